// Named functions on the GPU. The global functions are NVRTC's own.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/arithmetic.cuh"

namespace megakittens::device {

MK_DEVICE float exp(float x) {
  return ::expf(x);
}
MK_DEVICE float exp2(float x) {
  return ::exp2f(x);
}
MK_DEVICE float log(float x) {
  return ::logf(x);
}
MK_DEVICE float log2(float x) {
  return ::log2f(x);
}
MK_DEVICE float log1p(float x) {
  return ::log1pf(x);
}
MK_DEVICE float expm1(float x) {
  return ::expm1f(x);
}
MK_DEVICE float sqrt(float x) {
  return ::__fsqrt_rn(x);
}
MK_DEVICE float rsqrt(float x) {
  return ::rsqrtf(x);
}
MK_DEVICE float reciprocal(float x) {
  return ::__frcp_rn(x);
}
MK_DEVICE float tanh(float x) {
  return ::tanhf(x);
}
MK_DEVICE float erf(float x) {
  return ::erff(x);
}
MK_DEVICE float pow(float x, float y) {
  return ::powf(x, y);
}
MK_DEVICE float fma(float a, float b, float c) {
  return ::__fmaf_rn(a, b, c);
}
MK_DEVICE float abs(float x) {
  return ::fabsf(x);
}
MK_DEVICE float floor(float x) {
  return ::floorf(x);
}
MK_DEVICE float ceil(float x) {
  return ::ceilf(x);
}
MK_DEVICE float trunc(float x) {
  return ::truncf(x);
}
/// To the nearest integer, halves to even.
MK_DEVICE float round(float x) {
  return ::rintf(x);
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
MK_DEVICE float tanh_approx(float x) {
  return ptx::tanh_approx(x);
}

}  // namespace megakittens::device
