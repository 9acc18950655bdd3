// Integers, the few traits, and the 16-bit floating types: what every device header may use without asking.
#pragma once

#include "device/core/target.cuh"
#include "support/integers.hpp"

#if !MK_ON_GPU
#include <cstddef>
#endif

namespace megakittens::device {

inline constexpr uint32_t kWarpLanes = 32;

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

/// bfloat16 as it lies in memory. Arithmetic happens in float.
struct Bf16 {
  uint16_t bits;
};
/// IEEE half precision as it lies in memory. Arithmetic happens in float.
struct F16 {
  uint16_t bits;
};

}  // namespace megakittens::device
