// The persistent kernel: sets a CTA up, splits its warps into roles, and leaves the workspace ready for the next
// launch.
#pragma once

#include "interpreter/controller.cuh"
#include "interpreter/leaving.cuh"
#include "interpreter/roles.cuh"

namespace megakittens::interpreter {

/// This warp's share of the CTA's mbarriers: initialising one takes 50 clocks, so warps do it side by side. One lane a
/// warp: eight lanes were measured 2 us slower.
template <class B>
MK_DEVICE void init_barriers(uint32_t base, uint32_t warp) {
  using S = Layout<B>;
  auto init = [&](uint32_t by, const char* name, uint32_t offset, uint32_t number, uint32_t count) {
    if (warp != by) return;
    MK_ROLLED for (uint32_t i = 0; i < number; ++i) {
      ptx::mbarrier_init(base + offset + 8 * i, count);
      device::name_shared(base + offset + 8 * i, name, i);
    }
  };
  init(0, "slot_ready", S::kSlotReady, B::kSlots, 1);
  init(0, "slot_done", S::kSlotDone, B::kSlots, S::kDoneArrivals);
  init(0, "writable", S::kWritable, B::kSlots, 1);
  init(1, "written", S::kWritten, B::kSlots, device::kConsumerWarps);
  init(1, "meeting", S::kMeeting, 1, device::kConsumerWarps);
  init(2, "page_free", S::kPageFree, B::kPages, device::kPageArrivals);
  init(3, "stage_full", S::kStageFull, device::kRingStages, device::kStageFills);
  init(4, "stage_free", S::kStageFree, device::kRingStages, device::kStageFrees);
  init(5, "tile_done", S::kTileDone, device::kRingStages, device::kConsumerWarps);
  if (B::kLauncher) {
    init(6, "products_done", S::kProductsDone, device::kRingStages, 1);
    init(7, "accumulator_full", S::kAccumulatorFull, 1, device::kAccumulatorFills);
    init(7, "accumulator_free", S::kAccumulatorFree, 1, device::kConsumerWarps);
  }
  if (warp == 0) {
    for (uint32_t i = 0; i < B::kPages; ++i) device::name_shared(base + i * B::kPageBytes, "page", i);
    for (uint32_t i = 0; i < B::kSlots; ++i) device::name_shared(base + S::kSlots + i * S::kSlotBytes, "slot", i);
  }
  ptx::fence_mbarrier_init_release_cluster();  // row 14
}

/// The warps of which one lane works.
template <class B, class Set>
MK_DEVICE void run_lane(Context<B>& c) {
  if (c.warp == device::kLoaderWarp || c.warp == device::kFollowerWarp) {
    c.role = c.warp == device::kLoaderWarp ? Role::loader : Role::follower;
    device::one_lane([&] { run_loader<B, Set>(c); });
  } else if (c.warp == device::kStorerWarp) {
    c.role = Role::storer;
    device::one_lane([&] { run_storer<B, Set>(c); });
  } else if (B::kLauncher && c.warp == device::kLauncherWarp) {
    c.role = Role::launcher;
    device::one_lane([&] { run_launcher<B, Set>(c); });
  }
}

/// The whole kernel of an instruction set: Set::Build::kWarps warps, Layout<Set::Build>::kBytes of dynamic shared
/// memory.
template <class Set>
MK_DEVICE void interpret(const program::LaunchParameters& launch) {
  using B = typename Set::Build;
  const uint32_t warp = device::warp_uniform(ptx::tid_x() / device::kWarpLanes);
  Context<B> c{.launch = launch,
               .base = ptx::dynamic_shared_base(),
               .role = Role::consumer,
               .warp = warp,
               .counts = 0,
               .epoch = 0,
               .iteration = 0,
               .ring = 0,
               .tiles = 0,
               .accumulators = 0,
               .meetings = 0,
               .products = 0,
               .aborted = false};
  device::one_lane([&] {
    ptx::st_shared_u32(note_address(c), 0);
    if (warp < device::kConsumerWarps) init_barriers<B>(c.base, warp);
  });
  Controller controller;
  if (warp == device::kControllerWarp) controller.begin(c);
  Set::template begin_cta<B>(c);
  ptx::bar_sync_all();
  if (warp == device::kControllerWarp) controller.enter(c);
  if (warp < device::kConsumerWarps) {
    Set::consumer_registers();
    run_consumer<B, Set>(c);
  } else {
    Set::other_registers();
    if (warp == device::kControllerWarp)
      run_controller<B>(c, controller);
    else
      run_lane<B, Set>(c);
  }
  if (device::any(device::Lanes<bool>(c.aborted))) device::one_lane([&] { give_up(c); });
  ptx::bar_sync_all();
  if (warp == device::kControllerWarp) leave(c);
  Set::template end_cta<B>(c);
}

}  // namespace megakittens::interpreter
