// Calls every function of device/ptx that both architectures have, so that each one assembles. Never launched.
#include "device/machine.cuh"

using namespace megakittens;
using namespace megakittens::device;

template <int Rank>
MK_DEVICE void tensors(const TensorMap* map, uint32_t shared, uint64_t policy) {
  int32_t at[Rank];
  for (int d = 0; d < Rank; d++) at[d] = static_cast<int32_t>(shared) + d;
  ptx::cp_async_bulk_tensor_g2s(shared, map, at, shared + 8);
  ptx::cp_async_bulk_tensor_g2s_hint(shared, map, at, shared + 8, policy);
  ptx::cp_async_bulk_tensor_g2s_multicast(shared, map, at, shared + 8, 3);
  ptx::cp_async_bulk_tensor_g2s_multicast_hint(shared, map, at, shared + 8, 3, policy);
  ptx::cp_async_bulk_tensor_s2g(map, at, shared);
  ptx::cp_async_bulk_tensor_s2g_hint(map, at, shared, policy);
  ptx::cp_reduce_async_bulk_tensor_add(map, at, shared);
  ptx::cp_async_bulk_prefetch_tensor_l2(map, at);
}

extern "C" __global__ void __launch_bounds__(384, 1)
    every_bulk_copy(const __grid_constant__ TensorMap map, char* global) {
  const uint32_t shared = ptx::dynamic_shared_base();
  const uint64_t policy = ptx::createpolicy_evict_first() ^ ptx::createpolicy_evict_last() ^ ptx::kEvictNormal;
  ptx::prefetch_tensormap(&map);
  ptx::prefetch_tensormap(&map, megakittens::ptx::laneid(), true);
  ptx::fence_proxy_tensormap_acquire_sys(reinterpret_cast<const TensorMap*>(global));
  ptx::fence_proxy_tensormap_acquire_sys(reinterpret_cast<const TensorMap*>(global), megakittens::ptx::laneid(), true);
  tensors<1>(&map, shared, policy);
  tensors<2>(&map, shared, policy);
  tensors<3>(&map, shared, policy);
  tensors<4>(&map, shared, policy);
  tensors<5>(&map, shared, policy);
  ptx::cp_async_bulk_g2s(shared, global, 64, shared + 8);
  ptx::cp_async_bulk_g2s_hint(shared, global, 64, shared + 8, ptx::kEvictFirst);
  ptx::cp_async_bulk_g2s_multicast(shared, global, 64, shared + 8, 3);
  ptx::cp_async_bulk_s2cluster(ptx::mapa(shared, 1), shared, 64, ptx::mapa(shared + 8, 1));
  ptx::cp_async_bulk_s2g(global, shared, 64);
  ptx::cp_reduce_async_bulk_add_f32(global, shared, 64);
  ptx::cp_reduce_async_bulk_add_bf16(global, shared, 64);
  ptx::cp_async_bulk_prefetch_l2(global, 64);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group_read<1>();
  ptx::cp_async_bulk_wait_group<0>();
}

extern "C" __global__ void __launch_bounds__(384, 1) every_synchronization(uint32_t* counter, uint64_t* flagged) {
  const uint32_t barrier = ptx::dynamic_shared_base();
  ptx::mbarrier_init(barrier, 3);
  ptx::fence_mbarrier_init_release_cluster();
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
  ptx::bar_sync_all();
  ptx::setmaxnreg_dec<40>();
  ptx::setmaxnreg_inc<232>();
  ptx::griddepcontrol_wait();
  ptx::griddepcontrol_launch_dependents();
  ptx::mbarrier_arrive(barrier);
  ptx::mbarrier_arrive(barrier, 2);
  ptx::mbarrier_arrive_expect_tx(barrier, 64);
  ptx::mbarrier_expect_tx(barrier, 64);
  ptx::mbarrier_arrive_release_cluster(ptx::mapa(barrier, 1));
  ptx::mbarrier_arrive_expect_tx_release_cluster(ptx::mapa(barrier, 1), 64);
  uint32_t ok = ptx::mbarrier_try_wait_parity(barrier, 0) + ptx::mbarrier_test_wait_parity(barrier, 0) +
                ptx::mbarrier_try_wait_parity_acquire_cluster(barrier, 0);
  ptx::mbarrier_inval(barrier);
  ptx::fence_proxy_async();
  ptx::fence_proxy_async_shared_cta();
  ptx::fence_proxy_async_global();
  ptx::fence_acq_rel_cta();
  ptx::fence_acq_rel_cluster();
  ptx::fence_acq_rel_gpu();
  ptx::fence_acq_rel_sys();
  ptx::fence_sc_gpu();
  ptx::red_release_gpu_add_u32(counter, 1);
  ptx::red_relaxed_gpu_add_u32(counter, 1);
  ok += ptx::atom_relaxed_gpu_add_u32(counter, 1) + ptx::atom_acq_rel_gpu_add_u32(counter, 1);
  ok += ptx::atom_relaxed_gpu_cas_u32(counter, 1, 2) + ptx::ld_acquire_gpu_u32(counter);
  ok += ptx::ld_relaxed_gpu_u32(counter);
  ptx::st_relaxed_gpu_u32(counter, ok);
  ptx::st_relaxed_sys_u32(counter, ok);
  ptx::st_release_gpu_u32(counter, ok);
  const Lanes<uint64_t> offset = 8 * ptx::laneid();
  uint64_t word = ptx::ld_relaxed_gpu_u64(flagged) + ptx::ld_relaxed_gpu_u64(flagged, offset) +
                  ptx::ld_relaxed_gpu_u64(flagged, offset, ok > 3, 7);
  ptx::st_relaxed_gpu_u64(flagged, word);
  ptx::st_relaxed_gpu_u64(flagged, offset, word, ok > 4);
  ptx::bar_arrive(1, 256);
  ptx::bar_sync(2, 128);
  ptx::syncwarp();
  if (ptx::elect_one()) ptx::nanosleep(ptx::shfl_sync_bfly(ok, 1) + ptx::shfl_sync_idx(ok, 3));
  if (ptx::vote_sync_ballot(ok > 2) == 3) ptx::trap();
  flagged[1] = ptx::clock64() + ptx::globaltimer() + ptx::smid() + ptx::ctaid_x() + ptx::nctaid_x() +
               ptx::cluster_ctarank() + ptx::cluster_nctarank() + ptx::tid_x() + ptx::warp_index();
}

extern "C" __global__ void __launch_bounds__(384, 1) every_load_and_store(char* global) {
  const Lanes<uint64_t> at = 16 * ptx::tid_x();
  const Lanes<uint32_t> shared = ptx::dynamic_shared_base() + 16 * ptx::tid_x();
  const Lanes<bool> mask = ptx::laneid() < 20;
  ptx::st_global_u8(global, ptx::ld_global_u8(global + 1));
  ptx::st_global_u8(global, at, ptx::ld_global_u8(global, at + 1));
  ptx::st_global_u8(global, at, ptx::ld_global_u8(global, at + 1, mask, 3), mask);
  ptx::st_global_u16(global, ptx::ld_global_u16(global + 2));
  ptx::st_global_u16(global, at, ptx::ld_global_u16(global, at + 2));
  ptx::st_global_u16(global, at, ptx::ld_global_u16(global, at + 2, mask), mask);
  ptx::st_global_u32(global, ptx::ld_global_u32(global + 4));
  ptx::st_global_u32(global, at, ptx::ld_global_u32(global, at + 4));
  ptx::st_global_u32(global, at, ptx::ld_global_u32(global, at + 4, mask), mask);
  ptx::st_global_u64(global, ptx::ld_global_u64(global + 8));
  ptx::st_global_u64(global, at, ptx::ld_global_u64(global, at + 8));
  ptx::st_global_u64(global, at, ptx::ld_global_u64(global, at + 8, mask), mask);
  ptx::st_global_v2(global, at, ptx::ld_global_v2(global, at + 8));
  ptx::st_global_v2(global, at, ptx::ld_global_v2(global, at + 8, mask), mask);
  ptx::st_global_v4(global, at, ptx::ld_global_v4(global, at + 16));
  ptx::st_global_v4(global, at, ptx::ld_global_v4(global, at + 16, mask), mask);
  ptx::st_global_v4(global, at, ptx::ld_global_nc_v4(global, at + 16));
  ptx::st_shared_u8(shared, ptx::ld_shared_u8(shared + 1));
  ptx::st_shared_u8(shared, ptx::ld_shared_u8(shared + 1, mask), mask);
  ptx::st_shared_u16(shared, ptx::ld_shared_u16(shared + 2));
  ptx::st_shared_u16(shared, ptx::ld_shared_u16(shared + 2, mask), mask);
  ptx::st_shared_u32(shared, ptx::ld_shared_u32(shared + 4));
  ptx::st_shared_u32(shared, ptx::ld_shared_u32(shared + 4, mask), mask);
  ptx::st_shared_u64(shared, ptx::ld_shared_u64(shared + 8));
  ptx::st_shared_u64(shared, ptx::ld_shared_u64(shared + 8, mask), mask);
  ptx::st_shared_v2(shared, ptx::ld_shared_v2(shared + 8));
  ptx::st_shared_v2(shared, ptx::ld_shared_v2(shared + 8, mask), mask);
  ptx::st_shared_v4(shared, ptx::ld_shared_v4(shared + 16));
  ptx::st_shared_v4(shared, ptx::ld_shared_v4(shared + 16, mask), mask);
  ptx::stmatrix_x4(shared, ptx::ldmatrix_x4(shared));
  ptx::stmatrix_x4_trans(shared, ptx::ldmatrix_x4_trans(shared));
}
