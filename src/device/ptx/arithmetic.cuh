// Lane arithmetic that C++ cannot express. core/math.cuh and core/float16.cuh give these their names on both machines;
// nothing else calls them, and the host has no twin of this file.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// sm_80. PTX: "max", .NaN.f32.
MK_DEVICE float max_nan(float a, float b) {
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

/// sm_80. PTX: "min", .NaN.f32.
MK_DEVICE float min_nan(float a, float b) {
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

/// sm_20. PTX: "ex2", .approx.ftz.f32.
MK_DEVICE float ex2_approx(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// sm_20. PTX: "rcp", .approx.ftz.f32.
MK_DEVICE float rcp_approx(float x) {
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// sm_20. PTX: "div", .full.f32: at most two units in the last place off, for any operands.
MK_DEVICE float div_full(float a, float b) {
  float result;
  asm("div.full.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
}

/// sm_20. PTX: "sqrt", .approx.f32.
MK_DEVICE float sqrt_approx(float x) {
  float result;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// sm_75. PTX: "tanh", .approx.f32.
MK_DEVICE float tanh_approx(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// sm_80. PTX: "cvt", .rn.bf16x2.f32: `low` becomes the lower half.
MK_DEVICE uint32_t cvt_rn_bf16x2(float low, float high) {
  uint32_t result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// sm_80. PTX: "cvt", .rn.f16x2.f32: `low` becomes the lower half.
MK_DEVICE uint32_t cvt_rn_f16x2(float low, float high) {
  uint32_t result;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}

/// sm_80. PTX: "cvt", .rn.bf16.f32.
MK_DEVICE uint16_t cvt_rn_bf16(float x) {
  uint16_t result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}

/// sm_53. PTX: "cvt", .rn.f16.f32.
MK_DEVICE uint16_t cvt_rn_f16(float x) {
  uint16_t result;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(x));
  return result;
}

/// sm_53. PTX: "cvt", .f32.f16: exact.
MK_DEVICE float cvt_f32_f16(uint16_t bits) {
  float result;
  asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(bits));
  return result;
}

}  // namespace megakittens::ptx
