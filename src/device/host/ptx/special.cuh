// Twin of device/ptx/special.cuh.
#pragma once

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

using device::Lanes;
namespace host = device::host;

inline uint32_t ctaid_x() {
  return host::cta_index();
}
inline uint32_t nctaid_x() {
  return host::cta_count();
}
inline uint32_t cluster_ctarank() {
  return host::cluster_rank();
}
inline uint32_t cluster_nctarank() {
  return host::cluster_size();
}
inline uint32_t smid() {
  return host::cta_index();
}
inline Lanes<uint32_t> laneid() {
  return device::lane_index();
}
inline Lanes<uint32_t> tid_x() {
  return device::lane_index() + host::warp_index() * device::kWarpLanes;
}
inline uint64_t clock64() {
  return host::clock_cycles();
}
inline uint64_t globaltimer() {
  return host::clock_nanoseconds();
}
inline void nanosleep(uint32_t nanoseconds) {
  host::sleep_nanoseconds(nanoseconds);
}
inline void trap() {
  host::trap();
}
inline uint32_t dynamic_shared_base() {
  return host::shared_base();
}

}  // namespace megakittens::ptx
