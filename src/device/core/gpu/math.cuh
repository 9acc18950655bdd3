// Named functions on the GPU. The global functions are NVRTC's own.
#pragma once

#include "device/core/lanes.cuh"
#include "device/core/trigonometry.cuh"
#include "device/ptx/arithmetic.cuh"

namespace megakittens::device {

// NOLINTBEGIN(bugprone-macro-parentheses)
#define MK_FUNCTION(name, gpu, host) \
  MK_DEVICE float name(float x) {    \
    return gpu;                      \
  }
#include "ir/operations.def"
// NOLINTEND(bugprone-macro-parentheses)
MK_DEVICE float pow(float x, float y) {
  return ::powf(x, y);
}
MK_DEVICE float divide(float a, float b) {
  return a / b;
}
/// a / b for b of 1 and more.
MK_DEVICE float quotient(float a, float b) {
  return a / b;
}
MK_DEVICE float fma(float a, float b, float c) {
  return ::__fmaf_rn(a, b, c);
}
MK_DEVICE bool is_nan(float x) {
  return x != x;
}

MK_DEVICE float max(float a, float b) {
  return ptx::max_nan(a, b);
}
MK_DEVICE float min(float a, float b) {
  return ptx::min_nan(a, b);
}
MK_DEVICE int32_t max(int32_t a, int32_t b) {
  return a > b ? a : b;
}
MK_DEVICE int32_t min(int32_t a, int32_t b) {
  return a < b ? a : b;
}
MK_DEVICE uint32_t max(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}
MK_DEVICE uint32_t min(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

MK_DEVICE float exp2_approx(float x) {
  return ptx::ex2_approx(x);
}
MK_DEVICE float reciprocal_approx(float x) {
  return ptx::rcp_approx(x);
}
MK_DEVICE float divide_approx(float a, float b) {
  return ptx::div_full(a, b);
}
MK_DEVICE float sqrt_approx(float x) {
  return ptx::sqrt_approx(x);
}
MK_DEVICE float tanh_approx(float x) {
  return ptx::tanh_approx(x);
}

}  // namespace megakittens::device
