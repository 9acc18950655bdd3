// Twin of device/ptx/cache_policy.cuh: hints are nothing here.
#pragma once

#include "device/cache_policies.hpp"

namespace megakittens::ptx {

inline uint64_t createpolicy_evict_first() {
  return kEvictFirst;
}
inline uint64_t createpolicy_evict_last() {
  return kEvictLast;
}

}  // namespace megakittens::ptx
