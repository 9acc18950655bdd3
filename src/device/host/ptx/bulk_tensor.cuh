// Twin of device/ptx/bulk_tensor.cuh. The map's 128 bytes hold TensorMapFields on the host.
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"
#include "device/tensor_map.hpp"

namespace megakittens::ptx {

using device::TensorMap;
namespace host = device::host;

template <int Rank>
inline void cp_async_bulk_tensor_g2s(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                     uint32_t barrier) {
  host::require_one_lane("cp.async.bulk.tensor");
  host::bulk_load_tensor({destination, barrier}, map, at, Rank);
}
template <int Rank>
inline void cp_async_bulk_tensor_g2s_hint(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                          uint32_t barrier, uint64_t) {
  cp_async_bulk_tensor_g2s(destination, map, at, barrier);
}
template <int Rank>
inline void cp_async_bulk_tensor_g2s_multicast(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                               uint32_t barrier, uint16_t cta_mask) {
  host::require_one_lane("cp.async.bulk.tensor");
  host::bulk_load_tensor({destination, barrier, cta_mask}, map, at, Rank);
}
template <int Rank>
inline void cp_async_bulk_tensor_g2s_multicast_hint(uint32_t destination, const TensorMap* map,
                                                    const int32_t (&at)[Rank], uint32_t barrier, uint16_t cta_mask,
                                                    uint64_t) {
  cp_async_bulk_tensor_g2s_multicast(destination, map, at, barrier, cta_mask);
}
template <int Rank>
inline void cp_async_bulk_tensor_g2s_pair(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                          uint32_t barrier) {
  host::require_one_lane("cp.async.bulk.tensor");
  host::bulk_load_tensor({destination, barrier, 0, true}, map, at, Rank);
}
template <int Rank>
inline void cp_async_bulk_tensor_s2g(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source) {
  host::require_one_lane("cp.async.bulk.tensor");
  host::bulk_store_tensor(map, at, Rank, source, host::Reduction::kNone);
}
template <int Rank>
inline void cp_async_bulk_tensor_s2g_hint(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source, uint64_t) {
  cp_async_bulk_tensor_s2g(map, at, source);
}
template <int Rank>
inline void cp_reduce_async_bulk_tensor_add(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source) {
  host::require_one_lane("cp.reduce.async.bulk.tensor");
  host::bulk_store_tensor(map, at, Rank, source, host::Reduction::kAddMapType);
}
template <int Rank>
inline void cp_async_bulk_prefetch_tensor_l2(const TensorMap*, const int32_t (&)[Rank]) {
  host::require_one_lane("cp.async.bulk.prefetch.tensor");
}
inline void prefetch_tensormap(const TensorMap*) {}
inline void prefetch_tensormap(const TensorMap*, const device::Lanes<uint32_t>&, const device::Lanes<bool>&) {}
inline void fence_proxy_tensormap_acquire_sys(const TensorMap* map) {
  const void* const maps[] = {map};
  host::fence_proxy_tensormap(maps, 1);
}
inline void fence_proxy_tensormap_acquire_sys(const TensorMap* maps, const device::Lanes<uint32_t>& number,
                                              const device::Lanes<bool>& mask) {
  const void* used[device::kWarpLanes];
  uint32_t count = 0;
  for (uint32_t lane = 0; lane < device::kWarpLanes; ++lane)
    if (mask.v[lane]) used[count++] = maps + number.v[lane];
  host::fence_proxy_tensormap(used, count);
}

}  // namespace megakittens::ptx
