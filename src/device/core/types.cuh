// Integers, the few traits, and the 16-bit floating types. NVRTC has no <cstdint>, so the typedefs are written here;
// they are the same types as on a 64-bit Linux host, so that layouts and mangled names agree.
#pragma once

#include "device/core/target.cuh"

#if MK_ON_GPU
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;
namespace std {
using ::int16_t, ::int32_t, ::int64_t, ::int8_t, ::uint16_t, ::uint32_t, ::uint64_t, ::uint8_t, ::uintptr_t;
using size_t = decltype(sizeof(0));
}  // namespace std
#else
#include <cstddef>
#include <cstdint>
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
