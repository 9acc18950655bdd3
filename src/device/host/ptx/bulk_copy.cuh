// Twin of device/ptx/bulk_copy.cuh.
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

namespace host = device::host;

inline void cp_async_bulk_g2s(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier) {
  host::require_one_lane("cp.async.bulk");
  host::bulk_load({destination, barrier}, source, bytes);
}
inline void cp_async_bulk_g2s_hint(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier,
                                   uint64_t) {
  cp_async_bulk_g2s(destination, source, bytes, barrier);
}
inline void cp_async_bulk_g2s_multicast(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier,
                                        uint16_t cta_mask) {
  host::require_one_lane("cp.async.bulk");
  host::bulk_load({destination, barrier, cta_mask}, source, bytes);
}
inline void cp_async_bulk_s2cluster(uint32_t remote, uint32_t source, uint32_t bytes, uint32_t remote_barrier) {
  host::require_one_lane("cp.async.bulk");
  host::bulk_copy_to_cluster(remote, source, bytes, remote_barrier);
}
inline void cp_async_bulk_s2g(void* destination, uint32_t source, uint32_t bytes) {
  host::require_one_lane("cp.async.bulk");
  host::bulk_store(destination, source, bytes, host::Reduction::kNone);
}
inline void cp_reduce_async_bulk_add_f32(void* destination, uint32_t source, uint32_t bytes) {
  host::require_one_lane("cp.reduce.async.bulk");
  host::bulk_store(destination, source, bytes, host::Reduction::kAddF32);
}
inline void cp_reduce_async_bulk_add_bf16(void* destination, uint32_t source, uint32_t bytes) {
  host::require_one_lane("cp.reduce.async.bulk");
  host::bulk_store(destination, source, bytes, host::Reduction::kAddBf16);
}
inline void cp_async_bulk_prefetch_l2(const void*, uint32_t) {
  host::require_one_lane("cp.async.bulk.prefetch");
}
inline void cp_async_bulk_commit_group() {
  host::require_one_lane("cp.async.bulk.commit_group");
  host::bulk_commit();
}
template <int N>
inline void cp_async_bulk_wait_group() {
  host::require_one_lane("cp.async.bulk.wait_group");
  host::bulk_wait(N, false);
}
template <int N>
inline void cp_async_bulk_wait_group_read() {
  host::require_one_lane("cp.async.bulk.wait_group.read");
  host::bulk_wait(N, true);
}

}  // namespace megakittens::ptx
