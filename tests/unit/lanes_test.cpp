#include "device/core/lanes.cuh"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device/core/math.cuh"
#include "device/core/warp.cuh"

namespace megakittens::device {
namespace {

template <class T, class F>
void expect_each(const Lanes<T>& lanes, F expected) {
  for (uint32_t l = 0; l < kWarpLanes; l++) EXPECT_EQ(lanes.v[l], expected(l)) << "lane " << l;
}

TEST(Lanes, arithmetic_works_in_every_lane_with_scalars_on_either_side) {
  const Lanes<uint32_t> l = lane_index();
  expect_each(l * 3 + 1u, [](uint32_t i) { return 3 * i + 1; });
  expect_each(100u - l, [](uint32_t i) { return 100 - i; });
  expect_each((l << 4) | (l >> 1), [](uint32_t i) { return (i << 4) | (i >> 1); });
  expect_each(~l ^ 5u, [](uint32_t i) { return ~i ^ 5u; });
  expect_each(l % 5u & l / 3u, [](uint32_t i) { return (i % 5) & (i / 3); });
}

TEST(Lanes, results_have_the_type_that_scalars_would_have) {
  const Lanes<uint16_t> small = lane_index();
  static_assert(std::is_same_v<decltype(small + small), Lanes<int>>);
  static_assert(std::is_same_v<decltype(small + 1u), Lanes<uint32_t>>);
  static_assert(std::is_same_v<decltype(Lanes<float>() * 2), Lanes<float>>);
  static_assert(std::is_same_v<decltype(lane_index() < 3u), Lanes<bool>>);
  static_assert(std::is_same_v<decltype(!(lane_index() < 3u)), Lanes<bool>>);
  static_assert(std::is_trivially_copyable_v<Lanes<float>> && sizeof(Lanes<float>) == 128);
}

TEST(Lanes, compound_assignment_and_increment_convert_to_the_left_type) {
  Lanes<uint16_t> x = lane_index();
  x += 65535;
  expect_each(x, [](uint32_t i) { return static_cast<uint16_t>(i - 1); });
  ++x;
  --x;
  x <<= 1;
  expect_each(x, [](uint32_t i) { return static_cast<uint16_t>((i - 1) << 1); });
}

TEST(Lanes, masks_combine_and_select) {
  const Lanes<uint32_t> l = lane_index();
  const Lanes<bool> mask = (l >= 4u && l < 8u) || l == 31u;
  expect_each(select(mask, l, 0u), [](uint32_t i) { return (i >= 4 && i < 8) || i == 31 ? i : 0; });
  expect_each(select(!mask, 1.0f, 2.0f), [](uint32_t i) { return (i >= 4 && i < 8) || i == 31 ? 2.0f : 1.0f; });
  EXPECT_EQ(select(true, 1, 2), 1);
}

TEST(Lanes, integer_division_by_zero_gives_all_ones_and_does_not_stop) {
  const Lanes<uint32_t> l = lane_index();
  expect_each(7u / l, [](uint32_t i) { return i == 0 ? 0xffffffffu : 7 / i; });
  EXPECT_EQ((Lanes<int32_t>(5) % Lanes<int32_t>(0)).v[3], -1);
}

TEST(Lanes, float_to_integer_saturates_and_nan_becomes_zero) {
  const float huge = 1e20f, nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(convert<int32_t>(Lanes<float>(huge)).v[0], std::numeric_limits<int32_t>::max());
  EXPECT_EQ(convert<int32_t>(Lanes<float>(-huge)).v[0], std::numeric_limits<int32_t>::min());
  EXPECT_EQ(convert<uint32_t>(Lanes<float>(-1.5f)).v[0], 0u);
  EXPECT_EQ(convert<int32_t>(Lanes<float>(-1.5f)).v[0], -1);
  EXPECT_EQ(convert<int32_t>(Lanes<float>(nan)).v[0], 0);
  EXPECT_EQ(convert<uint8_t>(Lanes<float>(300.0f)).v[0], 255);
}

TEST(Lanes, max_and_min_propagate_nan_and_order_signed_zeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(max(nan, 1.0f)) && std::isnan(max(1.0f, nan)));
  EXPECT_TRUE(std::isnan(min(nan, 1.0f)) && std::isnan(min(1.0f, nan)));
  EXPECT_FALSE(std::signbit(max(-0.0f, 0.0f)) || std::signbit(max(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(min(-0.0f, 0.0f)) && std::signbit(min(0.0f, -0.0f)));
  EXPECT_EQ(max(Lanes<float>(2.0f), 3.0f).v[9], 3.0f);
  EXPECT_TRUE(all(is_nan(max(Lanes<float>(nan), 3.0f))));
}

TEST(Lanes, fma_rounds_once) {
  const float x = 1.0f + 0x1p-12f;
  EXPECT_NE(fma(x, x, -1.0f), x * x - 1.0f);
  EXPECT_EQ(fma(Lanes<float>(x), x, -1.0f).v[5], std::fma(x, x, -1.0f));
}

TEST(Lanes, bits_survive_a_cast) {
  expect_each(bit_cast<uint32_t>(bit_cast<float>(lane_index())), [](uint32_t i) { return i; });
}

TEST(Warp, lanes_exchange) {
  const Lanes<uint32_t> l = lane_index();
  expect_each(shuffle_xor(l, 5), [](uint32_t i) { return i ^ 5; });
  expect_each(shuffle_index(l, l + 31u), [](uint32_t i) { return (i + 31) % 32; });
  EXPECT_EQ(warp_sum(convert<float>(l)).v[17], 496.0f);
  EXPECT_EQ(warp_max(convert<float>(l)).v[3], 31.0f);
}

TEST(Warp, votes_give_one_answer) {
  const Lanes<uint32_t> l = lane_index();
  EXPECT_EQ(ballot(l < 4u), 15u);
  EXPECT_TRUE(any(l == 9u));
  EXPECT_FALSE(any(l == 32u));
  EXPECT_TRUE(all(l < 32u));
  EXPECT_FALSE(all(l < 31u));
}

TEST(Warp, warp_uniform_refuses_lanes_that_differ) {
  EXPECT_EQ(warp_uniform(Lanes<uint32_t>(7u)), 7u);
  EXPECT_EQ(warp_uniform(7u), 7u);
  EXPECT_THROW(warp_uniform(lane_index()), std::logic_error);
}

TEST(Warp, one_lane_runs_once_and_marks_it_even_when_it_throws) {
  uint32_t runs = 0, depth = 0;
  one_lane([&] {
    runs++;
    depth = single_lane_depth;
  });
  EXPECT_EQ(runs, 1u);
  EXPECT_EQ(depth, 1u);
  EXPECT_THROW(one_lane([] { throw std::logic_error("x"); }), std::logic_error);
  EXPECT_EQ(single_lane_depth, 0u);
  EXPECT_EQ(one_lane_value([] { return 5u; }), 5u);
}

}  // namespace
}  // namespace megakittens::device
