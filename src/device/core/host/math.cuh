// Named functions on the host, for Lanes and for single floats. The approximate ones are the accurate ones here.
#pragma once

#include <cmath>
#include <limits>

#include "device/core/lanes.cuh"

namespace megakittens::device {

// A function of one float, and the same in every lane.
#define MK_LANES_FUNCTION_1(NAME, EXPRESSION)                      \
  inline float NAME(float x) {                                     \
    return EXPRESSION;                                             \
  }                                                                \
  inline Lanes<float> NAME(const Lanes<float>& lanes) {            \
    return detail::map([](float x) { return EXPRESSION; }, lanes); \
  }
#define MK_FUNCTION(name, gpu, host) MK_LANES_FUNCTION_1(name, host)
#include "ir/operations.def"
MK_LANES_FUNCTION_1(exp2_approx, std::exp2(x))
MK_LANES_FUNCTION_1(reciprocal_approx, 1.0f / x)
MK_LANES_FUNCTION_1(sqrt_approx, std::sqrt(x))
MK_LANES_FUNCTION_1(tanh_approx, std::tanh(x))
#undef MK_LANES_FUNCTION_1

inline bool is_nan(float x) {
  return x != x;  // NOLINT(misc-redundant-expression)
}
inline Lanes<bool> is_nan(const Lanes<float>& x) {
  return x != x;  // NOLINT(misc-redundant-expression): NaN
}

namespace detail {
/// As on the GPU a signalling NaN is one like others: x^0 and 1^x are 1 whatever x is.
inline float power(float x, float y) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  return std::pow(is_nan(x) ? kNan : x, is_nan(y) ? kNan : y);
}
}  // namespace detail

// A function of two equal types, with any mixture of Lanes and single values that names at least one Lanes.
#define MK_LANES_FUNCTION_2(NAME, T, EXPRESSION)                        \
  inline T NAME(T a, T b) {                                             \
    return EXPRESSION;                                                  \
  }                                                                     \
  inline Lanes<T> NAME(const Lanes<T>& x, const Lanes<T>& y) {          \
    return detail::map([](T a, T b) -> T { return EXPRESSION; }, x, y); \
  }                                                                     \
  inline Lanes<T> NAME(const Lanes<T>& x, T y) {                        \
    return detail::map([](T a, T b) -> T { return EXPRESSION; }, x, y); \
  }                                                                     \
  inline Lanes<T> NAME(T x, const Lanes<T>& y) {                        \
    return detail::map([](T a, T b) -> T { return EXPRESSION; }, x, y); \
  }
MK_LANES_FUNCTION_2(pow, float, detail::power(a, b))
MK_LANES_FUNCTION_2(divide, float, a / b)
MK_LANES_FUNCTION_2(quotient, float, a / b)
MK_LANES_FUNCTION_2(divide_approx, float, a / b)
// NaN if either is; +0 is larger than -0, as max.NaN has it.
MK_LANES_FUNCTION_2(max, float, a != a ? a : b != b ? b : a > b || (a == b && !std::signbit(a)) ? a : b)
MK_LANES_FUNCTION_2(min, float, a != a ? a : b != b ? b : a < b || (a == b && std::signbit(a)) ? a : b)
MK_LANES_FUNCTION_2(max, int32_t, a > b ? a : b)
MK_LANES_FUNCTION_2(min, int32_t, a < b ? a : b)
MK_LANES_FUNCTION_2(max, uint32_t, a > b ? a : b)
MK_LANES_FUNCTION_2(min, uint32_t, a < b ? a : b)
#undef MK_LANES_FUNCTION_2

inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
template <class A, class B, class C>
  requires AnyLanes<A, B> || kIsLanes<C>
inline Lanes<float> fma(const A& a, const B& b, const C& c) {
  return detail::map([](float x, float y, float z) { return __builtin_fmaf(x, y, z); }, a, b, c);
}

}  // namespace megakittens::device
