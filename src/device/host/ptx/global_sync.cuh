// Twin of device/ptx/global_sync.cuh.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
namespace host = device::host;

inline void red_release_gpu_add_u32(uint32_t* address, uint32_t value) {
  host::require_one_lane("red");
  host::read_modify_write(address, host::Rmw::kAdd, value, 0, host::Order::kRelease, false);
}
inline void red_relaxed_gpu_add_u32(uint32_t* address, uint32_t value) {
  host::require_one_lane("red");
  host::read_modify_write(address, host::Rmw::kAdd, value, 0, host::Order::kRelaxed, false);
}
inline uint32_t atom_relaxed_gpu_add_u32(uint32_t* address, uint32_t value) {
  host::require_one_lane("atom");
  return host::read_modify_write(address, host::Rmw::kAdd, value, 0, host::Order::kRelaxed, true);
}
inline uint32_t atom_acq_rel_gpu_add_u32(uint32_t* address, uint32_t value) {
  host::require_one_lane("atom");
  return host::read_modify_write(address, host::Rmw::kAdd, value, 0, host::Order::kAcquireRelease, true);
}
inline uint32_t atom_relaxed_gpu_cas_u32(uint32_t* address, uint32_t expected, uint32_t desired) {
  host::require_one_lane("atom");
  return host::read_modify_write(address, host::Rmw::kCompareSwap, desired, expected, host::Order::kRelaxed, true);
}
inline uint32_t ld_acquire_gpu_u32(const uint32_t* address) {
  return host::load_strong_one<uint32_t>(address, host::Order::kAcquire);
}
inline uint32_t ld_relaxed_gpu_u32(const uint32_t* address) {
  return host::load_strong_one<uint32_t>(address, host::Order::kRelaxed);
}
inline uint64_t ld_relaxed_gpu_u64(const uint64_t* address) {
  return host::load_strong_one<uint64_t>(address, host::Order::kRelaxed);
}
inline Lanes<uint64_t> ld_relaxed_gpu_u64(const void* base, const Lanes<uint64_t>& offset,
                                          const Lanes<bool>& mask = true, const Lanes<uint64_t>& otherwise = 0) {
  return host::load_strong_lanes(host::addresses(base, offset), mask, otherwise);
}
inline void st_relaxed_gpu_u32(uint32_t* address, uint32_t value) {
  host::store_strong_one(address, value, host::Order::kRelaxed);
}
/// The host reads the word when the launch has ended: the emulator does not distinguish the scopes.
inline void st_relaxed_sys_u32(uint32_t* address, uint32_t value) {
  host::store_strong_one(address, value, host::Order::kRelaxed);
}
inline void st_relaxed_gpu_u64(uint64_t* address, uint64_t value) {
  host::store_strong_one(address, value, host::Order::kRelaxed);
}
inline void st_relaxed_gpu_u64(void* base, const Lanes<uint64_t>& offset, const Lanes<uint64_t>& value,
                               const Lanes<bool>& mask) {
  const host::Addresses address = host::addresses(base, offset);
  host::store_strong(address.of, device::ballot(mask), 8, value.v, host::Order::kRelaxed);
}
inline void st_release_gpu_u32(uint32_t* address, uint32_t value) {
  host::store_strong_one(address, value, host::Order::kRelease);
}

}  // namespace megakittens::ptx
