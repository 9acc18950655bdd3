// Page tokens and the ring of stages. Every physical page is finished exactly once an instruction, by eight arrivals:
// one from each consumer warp, four from one lane for its warpgroup, or eight at once. A stage is filled by two
// arrivals (loader and follower, each with the bytes of its copies) and freed by eight, like a page.
#pragma once

#include "device/vocabulary/arrivals.cuh"
#include "device/vocabulary/waits.cuh"

namespace megakittens::device {

inline constexpr uint32_t kPageArrivals = kConsumerWarps;
inline constexpr uint32_t kStageFills = 2;
inline constexpr uint32_t kStageFrees = kConsumerWarps;
inline constexpr uint32_t kRingShift = 3;
static_assert(kRingStages == 1u << kRingShift);

/// One lane's wait until physical page `page` belongs to this instruction.
template <class B>
MK_DEVICE void wait_physical_page(Context<B>& c, uint32_t page) {
  // Phase k is instruction k's; before the first the page counts as free.
  wait_lane(c, c.base + Layout<B>::kPageFree + 8 * page, c.iteration - 1, WaitKind::page_free, page);
}
/// The same for logical page `lid`.
template <class B>
MK_DEVICE void wait_page(Context<B>& c, uint32_t lid) {
  wait_physical_page(c, c.page(lid));
}

/// A whole warp's wait for the same.
template <class B>
MK_DEVICE void wait_physical_page_warp(Context<B>& c, uint32_t page) {
  wait_warp(c, c.base + Layout<B>::kPageFree + 8 * page, c.iteration - 1, WaitKind::page_free, page);
}
template <class B>
MK_DEVICE void wait_page_warp(Context<B>& c, uint32_t lid) {
  wait_physical_page_warp(c, c.page(lid));
}

/// Gives physical page `page` to the next instruction. One lane, after all reads that the arrivals stand for.
template <class B>
MK_DEVICE void finish_physical_page(Context<B>& c, uint32_t page, uint32_t arrivals = kPageArrivals) {
  if (!c.aborted) ptx::mbarrier_arrive(c.base + Layout<B>::kPageFree + 8 * page, arrivals);
}
/// The same for logical page `lid`.
template <class B>
MK_DEVICE void finish_page(Context<B>& c, uint32_t lid, uint32_t arrivals = kPageArrivals) {
  finish_physical_page(c, c.page(lid), arrivals);
}

/// Stage `n` of the instruction.
template <class B>
MK_DEVICE uint32_t stage_full(const Context<B>& c, uint32_t n) {
  return c.base + Layout<B>::kStageFull + 8 * ((c.ring + n) % kRingStages);
}
template <class B>
MK_DEVICE uint32_t stage_free(const Context<B>& c, uint32_t n) {
  return c.base + Layout<B>::kStageFree + 8 * ((c.ring + n) % kRingStages);
}

/// The use of its barrier that stage `n` waits for, counted over all instructions: where `depth` stages share memory,
/// the stage `depth` before it. Needs 0 < depth <= kRingStages.
template <class B>
MK_DEVICE uint32_t stage_before(const Context<B>& c, uint32_t n, uint32_t depth) {
  // Fresh pages: only the barrier, last used kRingStages ago, must be free.
  return c.ring + n - (n < depth ? kRingStages : depth);
}
template <class B>
MK_DEVICE uint32_t stage_free_of(const Context<B>& c, uint32_t number) {
  return c.base + Layout<B>::kStageFree + 8 * (number % kRingStages);
}
MK_DEVICE uint32_t stage_phase(uint32_t number) {
  return static_cast<uint32_t>(static_cast<int32_t>(number) >> kRingShift);
}

/// One lane: the barrier of stage `n` may take its next fill, and the stage `depth` before it has been consumed.
template <class B>
MK_DEVICE void wait_stage_free(Context<B>& c, uint32_t n, uint32_t depth) {
  const uint32_t before = stage_before(c, n, depth);
  wait_lane(c, stage_free_of(c, before), stage_phase(before), WaitKind::stage_free, n);
}

/// Stage `n` may take its next fill, and where it is the first of the instruction in physical page `page`, that is the
/// instruction's. Looks at both together: two looks after each other are a good part of a loading lane's turn.
template <class B>
MK_DEVICE void wait_stage_and_page(Context<B>& c, uint32_t n, uint32_t depth, uint32_t page) {
  const uint32_t before = stage_before(c, n, depth);
  auto stage_ready = [&]() MK_INLINE { return try_phase<B>(stage_free_of(c, before), stage_phase(before)); };
  auto page_ready = [&]() MK_INLINE {
    return n >= depth || try_phase<B>(c.base + Layout<B>::kPageFree + 8 * page, c.iteration - 1);
  };
  wait_until_lane(
      c, [&]() MK_INLINE { return stage_ready() & page_ready(); },
      [&]() MK_INLINE {
        const bool staged = stage_ready();
        expire(c, staged ? WaitKind::page_free : WaitKind::stage_free, staged ? page : n, 0,
               staged ? c.iteration - 1 : stage_phase(before));
      });
}

/// One lane announces `bytes` of copies into stage `n` and gives its arrival (row 1).
template <class B>
MK_DEVICE void fill_stage(Context<B>& c, uint32_t n, uint32_t bytes) {
  if (c.aborted) return;
  if (bytes != 0)
    ptx::mbarrier_arrive_expect_tx(stage_full(c, n), bytes);
  else
    ptx::mbarrier_arrive(stage_full(c, n));
}

template <class B>
MK_DEVICE void wait_stage_full_warp(Context<B>& c, uint32_t n) {
  wait_warp(c, stage_full(c, n), (c.ring + n) / kRingStages, WaitKind::stage_full, n);
}
template <class B>
MK_DEVICE void wait_stage_full_lane(Context<B>& c, uint32_t n) {
  wait_lane(c, stage_full(c, n), (c.ring + n) / kRingStages, WaitKind::stage_full, n);
}

/// One lane: stage `n` has been read.
template <class B>
MK_DEVICE void free_stage(Context<B>& c, uint32_t n, uint32_t arrivals = kStageFrees) {
  if (!c.aborted) ptx::mbarrier_arrive(stage_free(c, n), arrivals);
}

/// Barrier of output tile `n` of the instruction: eight arrivals, one a consumer warp.
template <class B>
MK_DEVICE uint32_t tile_done(const Context<B>& c, uint32_t n) {
  return c.base + Layout<B>::kTileDone + 8 * ((c.tiles + n) % kRingStages);
}

/// A consumer warp has written its part of output tile `n` into shared memory, for a bulk store (row 6).
template <class B>
MK_DEVICE void finish_tile_warp(Context<B>& c, uint32_t n) {
  ptx::fence_proxy_async_shared_cta();
  speak_for_warp([&](uint32_t arrivals) {
    if (!c.aborted) ptx::mbarrier_arrive(tile_done(c, n), arrivals);
  });
}
template <class B>
MK_DEVICE void wait_tile_done_lane(Context<B>& c, uint32_t n) {
  wait_lane(c, tile_done(c, n), (c.tiles + n) / kRingStages, WaitKind::tile_done, n);
}

/// A consumer warp before its first ordinary store of the instruction: storage that is used again is free.
template <class B>
MK_DEVICE void wait_writable_warp(Context<B>& c) {
  wait_warp(c, c.base + Layout<B>::kWritable + 8 * c.slot(), c.iteration / B::kSlots, WaitKind::writable);
}

}  // namespace megakittens::device
