// Twin of device/ptx/warp.cuh, on top of the host's warp operations.
#pragma once

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

using device::Lanes;
namespace host = device::host;

inline constexpr uint32_t kAllLanes = 0xffffffff;

inline void syncwarp() {
  host::require_whole_warp("bar.warp.sync");
}
inline Lanes<bool> elect_one() {
  return device::lane_index() == 0u;
}
inline Lanes<uint32_t> shfl_sync_bfly(const Lanes<uint32_t>& value, uint32_t mask) {
  return device::shuffle_xor(value, mask);
}
inline Lanes<uint32_t> shfl_sync_idx(const Lanes<uint32_t>& value, const Lanes<uint32_t>& index) {
  return device::shuffle_index(value, index);
}
inline uint32_t vote_sync_ballot(const Lanes<bool>& value) {
  return device::ballot(value);
}

}  // namespace megakittens::ptx
