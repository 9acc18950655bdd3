// The persistent kernel: sets a CTA up, splits its warps into roles, and leaves the workspace ready for the next
// launch.
#pragma once

#include "interpreter/controller.cuh"
#include "interpreter/roles.cuh"

namespace megakittens::interpreter {

/// Every mbarrier of the CTA. One lane: eight lanes were measured 2 us slower.
template <class B>
MK_DEVICE void init_barriers(uint32_t base) {
  using S = Layout<B>;
  auto init = [&](const char* name, uint32_t offset, uint32_t number, uint32_t count) {
    MK_ROLLED for (uint32_t i = 0; i < number; ++i) {
      ptx::mbarrier_init(base + offset + 8 * i, count);
      device::name_shared(base + offset + 8 * i, name, i);
    }
  };
  init("slot_ready", S::kSlotReady, B::kSlots, 1);
  init("slot_done", S::kSlotDone, B::kSlots, S::kDoneArrivals);
  init("writable", S::kWritable, B::kSlots, 1);
  init("written", S::kWritten, B::kSlots, device::kConsumerWarps);
  init("page_free", S::kPageFree, B::kPages, device::kPageArrivals);
  init("stage_full", S::kStageFull, device::kRingStages, device::kStageFills);
  init("stage_free", S::kStageFree, device::kRingStages, device::kStageFrees);
  init("tile_done", S::kTileDone, device::kRingStages, device::kConsumerWarps);
  init("meeting", S::kMeeting, 1, device::kConsumerWarps);
  if (B::kLauncher) {
    init("products_done", S::kProductsDone, device::kRingStages, 1);
    init("accumulator_full", S::kAccumulatorFull, 1, device::kAccumulatorFills);
    init("accumulator_free", S::kAccumulatorFree, 1, device::kConsumerWarps);
  }
  for (uint32_t i = 0; i < B::kPages; ++i) device::name_shared(base + i * B::kPageBytes, "page", i);
  for (uint32_t i = 0; i < B::kSlots; ++i) device::name_shared(base + S::kSlots + i * S::kSlotBytes, "slot", i);
  ptx::fence_mbarrier_init_release_cluster();
}

/// Takes this CTA's ticket: epoch = ticket / grid. False where the launch must not run. One lane.
template <class B>
MK_DEVICE bool enter(Context<B>& c) {
  program::Control* control = c.launch.control;
  if (ptx::ld_acquire_gpu_u32(&control->abort) != 0) return false;
  const uint32_t grid = ptx::nctaid_x();
  c.epoch = ptx::atom_acq_rel_gpu_add_u32(&control->ticket, 1) / grid;
  // CTAs of this launch may have left already; those of the launches before must all have.
  const uint32_t left = ptx::ld_acquire_gpu_u32(&control->left) - c.epoch * grid;
  if (left < grid) return true;
  expire(c, WaitKind::busy, 0, left, c.epoch * grid);
  report_abort(c);
  return false;
}

template <class B, class Set>
MK_DEVICE void interpret(const program::LaunchParameters& launch) {
  using S = Layout<B>;
  const uint32_t warp = device::warp_uniform(ptx::tid_x() / device::kWarpLanes);
  Context<B> c{.launch = launch,
               .base = ptx::dynamic_shared_base(),
               .role = Role::consumer,
               .warp = warp,
               .epoch = 0,
               .iteration = 0,
               .ring = 0,
               .tiles = 0,
               .accumulators = 0,
               .meetings = 0,
               .products = 0,
               .aborted = false};
  device::one_lane([&] { ptx::st_shared_u32(note_address(c), 0); });
  if (warp == device::kControllerWarp) {
    c.role = Role::controller;
    device::one_lane([&] {
      init_barriers<B>(c.base);
      // Nothing an earlier kernel wrote is touched before this (row 31).
      ptx::griddepcontrol_wait();
      const bool run = enter(c);
      ptx::st_shared_u32(c.base + S::kEpoch, c.epoch);
      ptx::st_shared_u32(c.base + S::kEpoch + 4, run ? 1u : 0u);
    });
  }
  Set::template begin_cta<B>(c);
  ptx::bar_sync_all();
  c.epoch = device::shared_word(c.base + S::kEpoch);
  if (device::shared_word(c.base + S::kEpoch + 4) != 0) {
    if (warp < device::kConsumerWarps) {
      Set::consumer_registers();
      run_consumer<B, Set>(c);
    } else {
      Set::other_registers();
      if (warp == device::kControllerWarp) {
        run_controller<B>(c);
      } else {
        if (warp == device::kLoaderWarp) c.role = Role::loader;
        if (warp == device::kFollowerWarp) c.role = Role::follower;
        if (warp == device::kStorerWarp) c.role = Role::storer;
        if (B::kLauncher && warp == device::kLauncherWarp) c.role = Role::launcher;
        if (c.role != Role::consumer) device::one_lane([&] { run_lane_role<B, Set>(c); });
      }
    }
    ptx::bar_sync_all();
    if (warp == device::kControllerWarp)
      device::one_lane([&] { ptx::red_release_gpu_add_u32(&launch.control->left, 1); });
  }
  Set::template end_cta<B>(c);
}

}  // namespace megakittens::interpreter
