// Twin of device/ptx/cache_policy.cuh: hints are nothing here.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

inline constexpr uint64_t kEvictNormal = 0x1000000000000000;
inline constexpr uint64_t kEvictFirst = 0x12f0000000000000;
inline constexpr uint64_t kEvictLast = 0x14f0000000000000;

inline uint64_t createpolicy_evict_first() {
  return kEvictFirst;
}
inline uint64_t createpolicy_evict_last() {
  return kEvictLast;
}

}  // namespace megakittens::ptx
