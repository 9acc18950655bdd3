// L2 eviction policies: 64-bit words that the .L2::cache_hint variants take.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// What createpolicy.fractional gives for the whole access; fixed words cost no instruction. Not architectural: the
/// compile test compares nothing, a wrong word only loses a hint.
inline constexpr uint64_t kEvictNormal = 0x1000000000000000;
inline constexpr uint64_t kEvictFirst = 0x12f0000000000000;
inline constexpr uint64_t kEvictLast = 0x14f0000000000000;

/// sm_80. PTX: "createpolicy", fractional, L2::evict_first for all of the accesses.
MK_DEVICE uint64_t createpolicy_evict_first() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// sm_80. PTX: "createpolicy", fractional, L2::evict_last for all of the accesses.
MK_DEVICE uint64_t createpolicy_evict_last() {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

}  // namespace megakittens::ptx
