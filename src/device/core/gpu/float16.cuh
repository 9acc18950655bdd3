// Conversions of 16-bit floating types on the GPU.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/arithmetic.cuh"

namespace megakittens::device {

MK_DEVICE float f16_bits_to_float(uint16_t bits) {
  return ptx::cvt_f32_f16(bits);
}
MK_DEVICE float to_float(Bf16 x) {
  return bit_cast<float>(uint32_t{x.bits} << 16);
}
MK_DEVICE float to_float(F16 x) {
  return ptx::cvt_f32_f16(x.bits);
}
MK_DEVICE float to_float(float x) {
  return x;
}
MK_DEVICE Bf16 to_bf16(float x) {
  return Bf16{ptx::cvt_rn_bf16(x)};
}
MK_DEVICE F16 to_f16(float x) {
  return F16{ptx::cvt_rn_f16(x)};
}
MK_DEVICE uint32_t pack_bf16x2(float low, float high) {
  return ptx::cvt_rn_bf16x2(low, high);
}
MK_DEVICE uint32_t pack_f16x2(float low, float high) {
  return ptx::cvt_rn_f16x2(low, high);
}

}  // namespace megakittens::device
