// Conversions between float and the 16-bit types, rounding to nearest even. NaN becomes the hardware's canonical
// 0x7fff. Two values in a 32-bit word: the element with the lower address is the lower half.
#pragma once

#include "device/core/lanes.cuh"
#if MK_ON_GPU
#include "device/core/gpu/float16.cuh"
#else
#include "device/core/host/float16.cuh"
#endif

namespace megakittens::device {

MK_DEVICE Lanes<float> bf16_low(Lanes<uint32_t> word) {
  return bit_cast<float>(word << 16);
}
MK_DEVICE Lanes<float> bf16_high(Lanes<uint32_t> word) {
  return bit_cast<float>(word & 0xffff0000u);
}
MK_DEVICE Lanes<float> f16_low(Lanes<uint32_t> word) {
  return f16_bits_to_float(convert<uint16_t>(word & 0xffffu));
}
MK_DEVICE Lanes<float> f16_high(Lanes<uint32_t> word) {
  return f16_bits_to_float(convert<uint16_t>(word >> 16));
}

/// The lower element of a word of two T.
template <class T>
MK_DEVICE Lanes<float> unpack_low(Lanes<uint32_t> word) {
  static_assert(kSame<T, Bf16> || kSame<T, F16>);
  if constexpr (kSame<T, Bf16>)
    return bf16_low(word);
  else
    return f16_low(word);
}
/// The higher element of a word of two T.
template <class T>
MK_DEVICE Lanes<float> unpack_high(Lanes<uint32_t> word) {
  static_assert(kSame<T, Bf16> || kSame<T, F16>);
  if constexpr (kSame<T, Bf16>)
    return bf16_high(word);
  else
    return f16_high(word);
}
/// Two floats rounded to T in one word.
template <class T>
MK_DEVICE Lanes<uint32_t> pack(Lanes<float> low, Lanes<float> high) {
  static_assert(kSame<T, Bf16> || kSame<T, F16>);
  if constexpr (kSame<T, Bf16>)
    return pack_bf16x2(low, high);
  else
    return pack_f16x2(low, high);
}
/// Rounds to T's precision and back: what storing and loading would do. T may be float.
template <class T>
MK_DEVICE Lanes<float> round_to(Lanes<float> x) {
  if constexpr (kSame<T, float>)
    return x;
  else if constexpr (kSame<T, Bf16>)
    return to_float(to_bf16(x));
  else
    return to_float(to_f16(x));
}

}  // namespace megakittens::device
