// L2 eviction policies made by the machine; cache_policies.hpp has the usual ones as constants.
#pragma once

#include "device/cache_policies.hpp"
#include "device/core/lanes.cuh"

namespace megakittens::ptx {

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
