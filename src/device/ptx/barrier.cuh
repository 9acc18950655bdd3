// Barriers among the warps of a CTA and among the CTAs of a cluster, and a kernel's declarations about its registers
// and its neighbours in the stream. Whole warps execute these.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// sm_20. PTX: "bar / barrier", bar.sync. Named barrier 0 to 15, `threads` a multiple of 32 that counts all who sync
/// and all who only arrive. Orders at CTA scope.
MK_DEVICE void bar_sync(uint32_t barrier, uint32_t threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// sm_20. PTX: "bar / barrier", bar.arrive. Does not wait.
MK_DEVICE void bar_arrive(uint32_t barrier, uint32_t threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// sm_20. PTX: "bar / barrier", bar.sync 0 of all threads of the CTA.
MK_DEVICE void bar_sync_all() {
  asm volatile("bar.sync 0;" ::: "memory");
}

/// sm_90. PTX: "barrier.cluster", arrive.release.aligned.
MK_DEVICE void barrier_cluster_arrive_release() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

/// sm_90. PTX: "barrier.cluster", wait.acquire.aligned.
MK_DEVICE void barrier_cluster_wait_acquire() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// sm_90a. PTX: "setmaxnreg", .inc. A multiple of 8 from 24 to 256; blocks until the registers are free. All warps of a
/// warpgroup execute it.
template <int Registers>
MK_DEVICE void setmaxnreg_inc() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// sm_90a. PTX: "setmaxnreg", .dec.
template <int Registers>
MK_DEVICE void setmaxnreg_dec() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// sm_90. PTX: "griddepcontrol", .wait. The kernels before this one in the stream have finished and are visible (row
/// 31).
MK_DEVICE void griddepcontrol_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

/// sm_90. PTX: "griddepcontrol", .launch_dependents. The next kernel may start once every CTA has executed this or
/// exited.
MK_DEVICE void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace megakittens::ptx
