// One-dimensional bulk copies. Offsets and sizes are multiples of 16 bytes.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

inline constexpr uint32_t kData = 1024;  ///< bytes of mbarriers before the data in shared memory

/// p.a bytes from byte p.b of the input to byte p.c of an area of p.a + 512 bytes, which is filled before and written
/// out after it. p.d: 0 plain, 1 evict_first, 2 evict_last, 3 after a prefetch, 4 in two halves with separate
/// expectation.
MK_TWIN(twin_bulk_load, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + kData;
  set_up([&] { ptx::mbarrier_init(full, 1); });
  fill_shared(p, area, p.a + 512);
  ptx::fence_proxy_async_shared_cta();
  one_lane([&] {
    const char* from = p.in + p.b;
    const uint32_t to = area + p.c, half = p.a / 32 * 16;
    if (p.d == 3) ptx::cp_async_bulk_prefetch_l2(from, p.a);
    if (p.d != 4) ptx::mbarrier_arrive_expect_tx(full, p.a);
    if (p.d == 0 || p.d == 3) ptx::cp_async_bulk_g2s(to, from, p.a, full);
    if (p.d == 1) ptx::cp_async_bulk_g2s_hint(to, from, p.a, full, ptx::kEvictFirst);
    if (p.d == 2) ptx::cp_async_bulk_g2s_hint(to, from, p.a, full, ptx::createpolicy_evict_last());
    if (p.d == 4) {
      ptx::mbarrier_expect_tx(full, half);
      ptx::cp_async_bulk_g2s(to, from, half, full);
      ptx::mbarrier_expect_tx(full, p.a - half);
      ptx::cp_async_bulk_g2s(to + half, from + half, p.a - half, full);
      ptx::mbarrier_arrive(full);
    }
  });
  wait(full, 0);
  copy_out(p, area, p.a + 512);
}

/// p.a bytes from byte p.c of shared memory to byte p.b of the output. p.d: 0 store, 1 add floats, 2 add bf16, 3 store
/// in two groups, 4 the shared memory is written again once it has been read, and stored behind the first.
MK_TWIN(twin_bulk_store, 32) {
  const uint32_t area = ptx::dynamic_shared_base();
  fill_shared(p, area, p.a + p.c);
  ptx::fence_proxy_async_shared_cta();
  const uint32_t from = area + p.c, half = p.a / 32 * 16;
  one_lane([&] {
    char* to = p.out + p.b;
    if (p.d == 0 || p.d == 4) ptx::cp_async_bulk_s2g(to, from, p.a);
    if (p.d == 1) ptx::cp_reduce_async_bulk_add_f32(to, from, p.a);
    if (p.d == 2) ptx::cp_reduce_async_bulk_add_bf16(to, from, p.a);
    if (p.d == 3) {
      ptx::cp_async_bulk_s2g(to, from, half);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_s2g(to + half, from + half, p.a - half);
    }
    ptx::cp_async_bulk_commit_group();
    if (p.d == 3) ptx::cp_async_bulk_wait_group<1>();
    ptx::cp_async_bulk_wait_group_read<0>();
  });
  if (p.d == 4) {
    fill_shared(p, from, p.a, p.a);
    ptx::fence_proxy_async_shared_cta();
    one_lane([&] {
      ptx::cp_async_bulk_s2g(p.out + p.b + p.a, from, p.a);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group_read<1>();
    });
  }
  one_lane([&] { ptx::cp_async_bulk_wait_group<0>(); });
}

/// A cluster of 2: the CTA of rank p.b copies p.a bytes to both, and each writes out what it got.
MK_TWIN(twin_bulk_multicast, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + kData;
  set_up([&] { ptx::mbarrier_init(full, 1); });
  one_lane([&] { ptx::mbarrier_arrive_expect_tx(full, p.a); });
  cluster_sync();
  if (ptx::cluster_ctarank() == p.b)
    one_lane([&] { ptx::cp_async_bulk_g2s_multicast(area, p.in + p.c, p.a, full, 3); });
  wait(full, 0);
  copy_out(p, area, p.a, ptx::cluster_ctarank() * p.a);
  cluster_sync();
}

/// A cluster of 2: rank 0 copies p.a bytes of its shared memory to rank 1's, which writes them out. p.b: who expects
/// the bytes: 0 the receiver, 1 the sender.
MK_TWIN(twin_bulk_to_cluster, 32) {
  const uint32_t full = ptx::dynamic_shared_base(), area = full + kData;
  set_up([&] { ptx::mbarrier_init(full, 1); });
  const bool sends = ptx::cluster_ctarank() == 0;
  if (sends) {
    fill_shared(p, area, p.a);
    ptx::fence_proxy_async_shared_cta();
  }
  if (!sends && p.b == 0) one_lane([&] { ptx::mbarrier_arrive_expect_tx(full, p.a); });
  cluster_sync();
  if (sends)
    one_lane([&] {
      const uint32_t remote = ptx::mapa(full, 1);
      if (p.b == 1) ptx::mbarrier_arrive_expect_tx_release_cluster(remote, p.a);
      ptx::cp_async_bulk_s2cluster(ptx::mapa(area, 1), area, p.a, remote);
    });
  if (!sends) {
    const Patience patience;
    while (!ptx::mbarrier_try_wait_parity_acquire_cluster(full, 0)) patience.spend();
    copy_out(p, area, p.a);
  }
  cluster_sync();
}

}  // namespace megakittens::twins
