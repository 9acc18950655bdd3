#include "device/core/float16.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "device/core/warp.cuh"

namespace megakittens::device {
namespace {

float from_bits(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

// Rounding to nearest even by comparing distances, for a 16-bit format whose finite values are ordered like their bits.
// `infinity` stands for the value one step above the largest finite one.
template <class Value>
uint16_t nearest(double x, uint16_t below, uint16_t infinity, double step_above_largest, Value value) {
  const double low = value(below);
  const double high = below + 1 == infinity ? step_above_largest : value(static_cast<uint16_t>(below + 1));
  if (x - low < high - x) return below;
  if (x - low > high - x) return below + 1;
  return below % 2 == 0 ? below : below + 1;
}

double bf16_value(uint16_t bits) {
  return from_bits(uint32_t{bits} << 16);
}

double f16_value(uint16_t bits) {
  const int exponent = bits >> 10, mantissa = bits & 0x3ff;
  return exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
}

// Rounding to bf16 depends on the upper half and on where the lower half stands against 0x8000: all upper halves, the
// lower halves around each decision.
TEST(Bf16, rounds_every_float_to_nearest_even) {
  for (uint32_t upper = 0; upper < 0x7f80; upper++)
    for (uint32_t lower : {0x0u, 0x1u, 0x1234u, 0x7fffu, 0x8000u, 0x8001u, 0xedcbu, 0xffffu}) {
      const float x = from_bits(upper << 16 | lower);
      const uint16_t expected = nearest(x, static_cast<uint16_t>(upper), 0x7f80, 0x1p128, bf16_value);
      ASSERT_EQ(to_bf16(x).bits, expected) << std::hex << upper << " " << lower;
      ASSERT_EQ(to_bf16(-x).bits, expected | 0x8000) << std::hex << upper << " " << lower;
    }
}

TEST(Bf16, infinities_stay_and_every_nan_becomes_the_hardwares_nan) {
  EXPECT_EQ(to_bf16(INFINITY).bits, 0x7f80);
  EXPECT_EQ(to_bf16(-INFINITY).bits, 0xff80);
  for (uint32_t bits : {0x7f800001u, 0x7fc00000u, 0x7fffffffu, 0xff800001u, 0xffffffffu})
    EXPECT_EQ(to_bf16(from_bits(bits)).bits, 0x7fff) << std::hex << bits;
}

TEST(Bf16, every_value_survives_a_round_trip) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const Bf16 x{static_cast<uint16_t>(bits)};
    if ((bits & 0x7fff) > 0x7f80)
      ASSERT_TRUE(std::isnan(to_float(x)));
    else
      ASSERT_EQ(to_bf16(to_float(x)).bits, bits);
  }
}

// Between each two neighbours: both ends, the middle, and the floats next to each.
TEST(F16, rounds_to_nearest_even_around_every_decision) {
  for (uint32_t below = 0; below < 0x7c00; below++) {
    const double low = f16_value(static_cast<uint16_t>(below));
    const double high = below + 1 == 0x7c00 ? 65536.0 : f16_value(static_cast<uint16_t>(below + 1));
    const float middle = static_cast<float>((low + high) / 2);
    for (float x :
         {static_cast<float>(low), std::nextafterf(static_cast<float>(low), 1e9f), std::nextafterf(middle, 0.0f),
          middle, std::nextafterf(middle, 1e9f), std::nextafterf(static_cast<float>(high), 0.0f)}) {
      const uint16_t expected = nearest(x, static_cast<uint16_t>(below), 0x7c00, 65536.0, f16_value);
      ASSERT_EQ(to_f16(x).bits, expected) << std::hex << below << " " << x;
      ASSERT_EQ(to_f16(-x).bits, expected | 0x8000) << std::hex << below << " " << x;
    }
  }
}

TEST(F16, large_values_overflow_and_every_nan_becomes_the_hardwares_nan) {
  for (float x : {65536.0f, 1e9f, from_bits(0x7f7fffff), INFINITY}) EXPECT_EQ(to_f16(x).bits, 0x7c00);
  EXPECT_EQ(to_f16(-1e9f).bits, 0xfc00);
  for (uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xffffffffu}) EXPECT_EQ(to_f16(from_bits(bits)).bits, 0x7fff);
}

TEST(F16, every_value_reads_exactly_and_survives_a_round_trip) {
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    const F16 x{static_cast<uint16_t>(bits)};
    if ((bits & 0x7fff) > 0x7c00) {
      ASSERT_TRUE(std::isnan(to_float(x)));
      continue;
    }
    ASSERT_EQ(to_f16(to_float(x)).bits, bits);
    if ((bits & 0x7fff) == 0x7c00) continue;
    ASSERT_EQ(std::fabs(to_float(x)), f16_value(bits & 0x7fff)) << std::hex << bits;
  }
}

TEST(Packing, the_lower_half_is_the_first_element) {
  EXPECT_EQ(pack_bf16x2(1.0f, 2.0f), 0x40003f80u);
  EXPECT_EQ(pack_f16x2(1.0f, 2.0f), 0x40003c00u);
  const Lanes<float> x = convert<float>(lane_index());
  EXPECT_EQ(unpack_low<Bf16>(pack<Bf16>(x, -x)).v[9], 9.0f);
  EXPECT_EQ(unpack_high<Bf16>(pack<Bf16>(x, -x)).v[9], -9.0f);
  EXPECT_EQ(unpack_low<F16>(pack<F16>(x, -x)).v[9], 9.0f);
  EXPECT_EQ(unpack_high<F16>(pack<F16>(x, -x)).v[9], -9.0f);
  EXPECT_EQ(round_to<Bf16>(Lanes<float>(1.0f + 0x1p-9f)).v[0], 1.0f);
  EXPECT_EQ(round_to<float>(Lanes<float>(1.0f + 0x1p-9f)).v[0], 1.0f + 0x1p-9f);
}

}  // namespace
}  // namespace megakittens::device
