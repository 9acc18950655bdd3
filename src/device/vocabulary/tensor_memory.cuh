// The hand-over of tensor memory between the launcher, one lane, and the consumer warps. All of it serves one output
// tile at a time; tiles are counted by Context::accumulators, commits by Context::products.
#pragma once

#include "device/vocabulary/pages.cuh"

namespace megakittens::device {

inline constexpr uint32_t kTensorColumns = 512;

/// The launcher's warp, before the CTA's first barrier: all of tensor memory, for the kernel's life.
template <class B>
MK_DEVICE void allocate_tensor_memory(const Context<B>& c) {
  ptx::tcgen05_alloc<1>(c.base + Layout<B>::kTensorMemory, kTensorColumns);
  ptx::tcgen05_relinquish_alloc_permit<1>();
}
/// The same warp, after the CTA's last barrier.
template <class B>
MK_DEVICE void free_tensor_memory(const Context<B>& c) {
  ptx::tcgen05_dealloc<1>(shared_word(c.base + Layout<B>::kTensorMemory), kTensorColumns);
}
template <class B>
MK_DEVICE uint32_t tensor_memory(const Context<B>& c) {
  return shared_word(c.base + Layout<B>::kTensorMemory);
}

/// Launcher: the consumers have read the tile before (row 20).
template <class B>
MK_DEVICE void wait_accumulator_free_lane(Context<B>& c) {
  wait_lane(c, c.base + Layout<B>::kAccumulatorFree, c.accumulators - 1, WaitKind::accumulator);
  ptx::tcgen05_fence_after_thread_sync();
}

/// Launcher: every product of the tile is issued (row 19). The commit speaks for the products alone; that the follower
/// acquired the epilogue's operands reaches the consumers by the launcher's own arrival (rows 8 and 10).
template <class B>
MK_DEVICE void commit_accumulator(Context<B>& c) {
  if (c.aborted) return;
  ptx::tcgen05_commit<1>(c.base + Layout<B>::kAccumulatorFull);
  ptx::mbarrier_arrive(c.base + Layout<B>::kAccumulatorFull);
}

/// Launcher: the products of one stage are issued; `n` counts the instruction's stages.
template <class B>
MK_DEVICE void commit_products(Context<B>& c, uint32_t n) {
  if (!c.aborted) ptx::tcgen05_commit<1>(c.base + Layout<B>::kProductsDone + 8 * ((c.products + n) % kRingStages));
}
/// Launcher: they are done, and have read their pages (row 5).
template <class B>
MK_DEVICE void wait_products_lane(Context<B>& c, uint32_t n) {
  const uint32_t number = c.products + n;
  wait_lane(c, c.base + Layout<B>::kProductsDone + 8 * (number % kRingStages), number / kRingStages,
            WaitKind::accumulator, n);
}

/// A consumer warp: the tile is complete (row 19).
template <class B>
MK_DEVICE void wait_accumulator_full_warp(Context<B>& c) {
  wait_warp(c, c.base + Layout<B>::kAccumulatorFull, c.accumulators, WaitKind::accumulator);
  ptx::tcgen05_fence_after_thread_sync();
}
/// A consumer warp has loaded its part of the tile, wait::ld included (row 20).
template <class B>
MK_DEVICE void free_accumulator_warp(Context<B>& c) {
  ptx::tcgen05_fence_before_thread_sync();
  speak_for_warp([&](uint32_t arrivals) {
    if (!c.aborted) ptx::mbarrier_arrive(c.base + Layout<B>::kAccumulatorFree, arrivals);
  });
}

}  // namespace megakittens::device
