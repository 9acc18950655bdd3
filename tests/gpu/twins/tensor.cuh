// Bulk copies of a box through a tensor map: rank p.c, first element p.at, p.a bytes of shared memory.
#pragma once

#include "gpu/twins/bulk.cuh"

namespace megakittens::twins {

/// f with a constant rank's coordinates.
template <class F>
MK_DEVICE void with_rank(const Parameters& p, F f) {
  const int32_t (&at)[5] = p.at;
  const int32_t one[1] = {at[0]}, two[2] = {at[0], at[1]}, three[3] = {at[0], at[1], at[2]},
                four[4] = {at[0], at[1], at[2], at[3]}, five[5] = {at[0], at[1], at[2], at[3], at[4]};
  if (p.c == 1) f(one);
  if (p.c == 2) f(two);
  if (p.c == 3) f(three);
  if (p.c == 4) f(four);
  if (p.c == 5) f(five);
}

/// The box as it lies in shared memory. p.d: 0 plain, 1 evict_first, 2 after prefetches of map and box, 3 by the map in
/// the input's first bytes, 4 by that map after all lanes' fences.
MK_TWIN(twin_tensor_load, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + kData;
  set_up([&] { ptx::mbarrier_init(full, 1); });
  if (p.d == 2) {
    ptx::prefetch_tensormap(&p.map);
    ptx::prefetch_tensormap(&p.map, lane_index() * 0u, lane_index() < 3u);
  }
  const auto* in_memory = reinterpret_cast<const TensorMap*>(p.in);
  if (p.d == 4) ptx::fence_proxy_tensormap_acquire_sys(in_memory, lane_index() * 0u, lane_index() < 3u);
  one_lane([&] {
    const TensorMap* map = p.d >= 3 ? in_memory : &p.map;
    if (p.d == 3) ptx::fence_proxy_tensormap_acquire_sys(map);
    ptx::mbarrier_arrive_expect_tx(full, p.a);
    with_rank(p, [&](const auto& at) {
      if (p.d == 2) ptx::cp_async_bulk_prefetch_tensor_l2(map, at);
      if (p.d == 1)
        ptx::cp_async_bulk_tensor_g2s_hint(area, map, at, full, ptx::createpolicy_evict_first());
      else
        ptx::cp_async_bulk_tensor_g2s(area, map, at, full);
    });
  });
  wait(full, 0);
  copy_out(p, area, p.a);
}

/// The input's bytes as a box of the output. p.d: 0 store, 1 with evict_last, 2 add in the map's type.
MK_TWIN(twin_tensor_store, 32) {
  const uint32_t area = ptx::dynamic_shared_base();
  fill_shared(p, area, p.a);
  ptx::fence_proxy_async_shared_cta();
  one_lane([&] {
    with_rank(p, [&](const auto& at) {
      if (p.d == 0) ptx::cp_async_bulk_tensor_s2g(&p.map, at, area);
      if (p.d == 1) ptx::cp_async_bulk_tensor_s2g_hint(&p.map, at, area, ptx::kEvictLast);
      if (p.d == 2) ptx::cp_reduce_async_bulk_tensor_add(&p.map, at, area);
    });
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group<0>();
  });
}

/// A cluster of 2: rank p.b loads the box for both, p.d: 1 with a hint.
MK_TWIN(twin_tensor_multicast, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + kData;
  set_up([&] { ptx::mbarrier_init(full, 1); });
  one_lane([&] { ptx::mbarrier_arrive_expect_tx(full, p.a); });
  cluster_sync();
  if (ptx::cluster_ctarank() == p.b)
    one_lane([&] {
      with_rank(p, [&](const auto& at) {
        if (p.d == 1)
          ptx::cp_async_bulk_tensor_g2s_multicast_hint(area, &p.map, at, full, 3, ptx::kEvictNormal);
        else
          ptx::cp_async_bulk_tensor_g2s_multicast(area, &p.map, at, full, 3);
      });
    });
  wait(full, 0);
  copy_out(p, area, p.a, ptx::cluster_ctarank() * p.a);
  cluster_sync();
}

}  // namespace megakittens::twins
