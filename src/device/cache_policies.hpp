// L2 eviction policies as fixed words for the .L2::cache_hint variants: what createpolicy.fractional gives for the
// whole access, at no cost. They are not architectural; a wrong word would only lose a hint.
#pragma once

#include "device/core/types.cuh"

namespace megakittens::ptx {

inline constexpr uint64_t kEvictNormal = 0x1000000000000000;
inline constexpr uint64_t kEvictFirst = 0x12f0000000000000;
inline constexpr uint64_t kEvictLast = 0x14f0000000000000;

}  // namespace megakittens::ptx
