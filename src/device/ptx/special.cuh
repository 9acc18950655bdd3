// Special registers, clocks, and ways to stop.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/warp.cuh"

namespace megakittens::ptx {

using device::Lanes;

/// sm_10. PTX: "%ctaid". x of the CTA's index in the grid.
MK_DEVICE uint32_t ctaid_x() {
  uint32_t value;
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(value));
  return value;
}

/// sm_10. PTX: "%nctaid". CTAs in x of the grid.
MK_DEVICE uint32_t nctaid_x() {
  uint32_t value;
  asm("mov.u32 %0, %%nctaid.x;" : "=r"(value));
  return value;
}

/// sm_90. PTX: "%cluster_ctarank".
MK_DEVICE uint32_t cluster_ctarank() {
  uint32_t value;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
  return value;
}

/// sm_90. PTX: "%cluster_nctarank".
MK_DEVICE uint32_t cluster_nctarank() {
  uint32_t value;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
  return value;
}

/// sm_20. PTX: "%smid". Where the CTA runs; only for records.
MK_DEVICE uint32_t smid() {
  uint32_t value;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(value));
  return value;
}

/// sm_10. PTX: "%tid". x of the thread's index in the CTA. For a warp's number use device::warp_index, which is
/// uniform.
MK_DEVICE Lanes<uint32_t> tid_x() {
  uint32_t value;
  asm("mov.u32 %0, %%tid.x;" : "=r"(value));
  return value;
}

/// sm_30. PTX: "%tid", "shfl.sync". The warp's number in the CTA, which the compiler knows to be uniform (CTAs are
/// 1-D).
MK_DEVICE uint32_t warp_index() {
  return shfl_sync_idx(tid_x() / 32, 0);
}

/// sm_20. PTX: "%clock64".
MK_DEVICE uint64_t clock64() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value));
  return value;
}

/// sm_30. PTX: "%globaltimer". Nanoseconds, the same on all SMs.
MK_DEVICE uint64_t globaltimer() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}

/// sm_70. PTX: "nanosleep". Between none and twice that many nanoseconds.
MK_DEVICE void nanosleep(uint32_t nanoseconds) {
  asm volatile("nanosleep.u32 %0;" ::"r"(nanoseconds));
}

/// sm_10. PTX: "trap". The kernel ends in an error.
MK_DEVICE void trap() {
  asm volatile("trap;");
}

/// sm_20. PTX: "cvta". The shared-window address of the CTA's dynamic shared memory, aligned to 1024.
MK_DEVICE uint32_t dynamic_shared_base() {
  extern __shared__ __align__(1024) unsigned char megakittens_dynamic_shared[];
  return static_cast<uint32_t>(__cvta_generic_to_shared(megakittens_dynamic_shared));
}

}  // namespace megakittens::ptx
