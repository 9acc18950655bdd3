// Conversions of 16-bit floating types on the host, without branches, so that the loops over lanes become vector code.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::device {

constexpr float to_float(Bf16 x) {
  return std::bit_cast<float>(uint32_t{x.bits} << 16);
}
constexpr float to_float(float x) {
  return x;
}

constexpr Bf16 to_bf16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (u + 0x7fff + ((u >> 16) & 1)) >> 16;
  return Bf16{static_cast<uint16_t>((u & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded)};
}

constexpr float f16_bits_to_float(uint16_t bits) {
  const uint32_t sign = uint32_t{bits & 0x8000u} << 16, magnitude = bits & 0x7fffu;
  const uint32_t normal = (magnitude << 13) + 0x38000000;            // exponent bias 15 to 127
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;  // exact
  const uint32_t special = 0x7f800000 | (magnitude << 13);           // infinity, NaN with its payload
  const uint32_t finite = detail::choose(magnitude < 0x400, std::bit_cast<uint32_t>(subnormal), normal);
  return std::bit_cast<float>(sign | detail::choose(magnitude < 0x7c00, finite, special));
}
constexpr float to_float(F16 x) {
  return f16_bits_to_float(x.bits);
}

constexpr F16 to_f16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x), magnitude = u & 0x7fffffff, sign = (u >> 16) & 0x8000;
  // Adding 0.5, whose last place is half precision's smallest step, lets the adder round subnormal results.
  const float half = std::bit_cast<float>(detail::choose(magnitude < 0x38800000, magnitude, 0u)) + 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(half) - 0x3f000000;
  const uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
  const uint32_t finite = detail::choose(magnitude < 0x38800000, subnormal, normal);
  const uint32_t value = sign | detail::choose(magnitude >= 0x47800000, uint32_t{0x7c00}, finite);
  return F16{static_cast<uint16_t>(detail::choose(magnitude > 0x7f800000, uint32_t{0x7fff}, value))};
}

constexpr uint32_t pack_bf16x2(float low, float high) {
  return to_bf16(low).bits | uint32_t{to_bf16(high).bits} << 16;
}
constexpr uint32_t pack_f16x2(float low, float high) {
  return to_f16(low).bits | uint32_t{to_f16(high).bits} << 16;
}

template <class T>
inline Lanes<float> to_float(const Lanes<T>& x) {
  return detail::map([](T a) { return to_float(a); }, x);
}
inline Lanes<float> f16_bits_to_float(const Lanes<uint16_t>& x) {
  return detail::map([](uint16_t a) { return f16_bits_to_float(a); }, x);
}
inline Lanes<Bf16> to_bf16(const Lanes<float>& x) {
  return detail::map([](float a) { return to_bf16(a); }, x);
}
inline Lanes<F16> to_f16(const Lanes<float>& x) {
  return detail::map([](float a) { return to_f16(a); }, x);
}
inline Lanes<uint32_t> pack_bf16x2(const Lanes<float>& low, const Lanes<float>& high) {
  return detail::map([](float a, float b) { return pack_bf16x2(a, b); }, low, high);
}
inline Lanes<uint32_t> pack_f16x2(const Lanes<float>& low, const Lanes<float>& high) {
  return detail::map([](float a, float b) { return pack_f16x2(a, b); }, low, high);
}

}  // namespace megakittens::device
