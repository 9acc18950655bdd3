// Sine and cosine of any float within two units in the last place, without the local memory that the toolkit's own take
// for large arguments: an interpreter has no stack. Plain arithmetic, so that tests compare it on the host.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::device {
namespace trigonometry {

MK_DEVICE float multiply_add(float a, float b, float c) {
#if MK_ON_GPU
  return ::__fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}
MK_DEVICE float nearest(float x) {
#if MK_ON_GPU
  return ::rintf(x);
#else
  return __builtin_rintf(x);
#endif
}

/// x = quarters * pi / 2 + rest, |rest| <= pi / 4; quarters modulo 4.
struct Reduced {
  float rest;
  uint32_t quarters;
};

/// |x| < 2^16: x - q * pi / 2 with pi / 2 as three floats. The first difference is exact.
MK_DEVICE Reduced reduce_small(float x) {
  const float q = nearest(x * 0.636619772f);
  float rest = multiply_add(-q, 1.5707963705062866f, x);
  rest = multiply_add(-q, -4.371138828673793e-08f, rest);
  return {multiply_add(-q, -1.7151245100058819e-15f, rest), static_cast<uint32_t>(static_cast<int32_t>(q))};
}

/// Word i of 2 / pi, 32 bits each, behind one of zeros. A table with an index that is not fixed would lie in memory.
MK_DEVICE uint32_t two_over_pi(uint32_t i) {
  return i == 1   ? 0xa2f9836eu
         : i == 2 ? 0x4e441529u
         : i == 3 ? 0xfc2757d1u
         : i == 4 ? 0xf534ddc0u
         : i == 5 ? 0xdb629599u
         : i == 6 ? 0x3c439041u
         : i == 7 ? 0xfe5163abu
                  : 0u;
}

/// 2^16 <= x: with x = m * 2^(e - 23), the product of m and those bits of 2 / pi that are not multiples of 4 after it,
/// 96 of them (M. Payne and R. Hanek, "Radian reduction for trigonometric functions", 1983).
MK_DEVICE Reduced reduce_large(float x) {
  const uint32_t bits = bit_cast<uint32_t>(x);
  const uint32_t first = (bits >> 23) - 127 - 25 + 32;  // the window's first bit behind the leading word of zeros
  const uint32_t word = first / 32, shift = first % 32;
  auto window = [&](uint32_t i) MK_INLINE {
    const uint64_t pair = static_cast<uint64_t>(two_over_pi(word + i)) << 32 | two_over_pi(word + i + 1);
    return static_cast<uint32_t>(pair << shift >> 32);
  };
  const uint64_t m = (bits & 0x7fffff) | 0x800000;
  const uint64_t low = m * window(2), middle = m * window(1) + (low >> 32), high = m * window(0) + (middle >> 32);
  const uint64_t product = high << 32 | (middle & 0xffffffffu);  // in units of 2^-62, modulo 4
  // To the nearest quarter: what is left is signed.
  const uint64_t rounded = product + (uint64_t{1} << 61);
  const auto rest = static_cast<float>(static_cast<int64_t>((rounded << 2) - (uint64_t{1} << 63)));
  constexpr float kScale = 1.57079637f / 18446744073709551616.0f;  // pi / 2 * 2^-64, and what that lacks
  constexpr float kScaleLow = -4.371139e-08f / 18446744073709551616.0f;
  return {multiply_add(rest, kScale, rest * kScaleLow), static_cast<uint32_t>(rounded >> 62)};
}

/// The sine of (quarters + turn) * pi / 2 + rest.
MK_DEVICE float sine_from(float x, uint32_t turn) {
  const float size = bit_cast<float>(bit_cast<uint32_t>(x) & 0x7fffffffu);
  if (!(size <= 3.402823466e38f)) return x - x;  // infinite, or no number
  Reduced reduced = reduce_small(x);
  if (size >= 65536.0f) {
    reduced = reduce_large(size);
    if (x < 0.0f) reduced = {-reduced.rest, 0u - reduced.quarters};
  }
  const uint32_t quarters = reduced.quarters + turn;
  const float r = reduced.rest, square = r * r;
  float sine = multiply_add(square, -0.00019516656f, 0.00833217334f);
  sine = multiply_add(square, sine, -0.166666552f);
  sine = multiply_add(r * square, sine, r);
  float cosine = multiply_add(square, 2.44377297e-05f, -0.00138873619f);
  cosine = multiply_add(square, cosine, 0.0416666456f);
  cosine = multiply_add(square * square, cosine, multiply_add(square, -0.5f, 1.0f));
  const float value = (quarters & 1) != 0 ? cosine : sine;
  return (quarters & 2) != 0 ? -value : value;
}

}  // namespace trigonometry

MK_DEVICE float sine(float x) {
  return trigonometry::sine_from(x, 0);
}
MK_DEVICE float cosine(float x) {
  return trigonometry::sine_from(x, 1);
}

}  // namespace megakittens::device
