// The loops of the roles that work on published instructions.
#pragma once

#include "device/vocabulary/pages.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Layout;
using device::Role;
using device::WaitKind;

/// Reads what every role needs of the slot's instruction. True where the list has ended.
template <class B>
MK_DEVICE bool begin_instruction(Context<B>& c, uint32_t& icode) {
  const uint32_t header = c.word(0);
  icode = header & 0xffff;
  const bool stop = (header >> 16 & program::kFlagStop) != 0;
  annotate_instruction(c, [&] { return stop ? int64_t{-1} : int64_t{c.word(program::kWordNumber)}; });
  return stop;
}

template <class B>
MK_DEVICE uint32_t slot_barrier(const Context<B>& c, uint32_t offset) {
  return c.base + offset + 8 * c.slot();
}

/// Counts the ring stages and tiles of the instruction as used, whether this role touched them or not.
template <class B, class Op>
MK_DEVICE void end_instruction(Context<B>& c, Op op) {
  c.ring += op.ring_stages(c);
  c.tiles += op.output_tiles(c);
  c.accumulators += op.accumulator_tiles(c);
}

/// Loader, follower, launcher and storer: one lane each.
template <class B, class Set>
MK_DEVICE void run_lane_role(Context<B>& c) {
  while (true) {
    const uint32_t turn = c.iteration / B::kSlots;
    wait_lane(c, slot_barrier(c, Layout<B>::kSlotReady), turn, WaitKind::slot_ready);
    if (c.aborted) return report_abort(c);
    uint32_t icode = 0;
    if (begin_instruction(c, icode)) return;
    if (c.role == Role::storer) {
      // Reuse waits come before the first write, whichever role writes (row 12).
      if (wait_counters(c, program::kGuardWrite)) ptx::fence_proxy_async_global();
      if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kWritable));
    }
    Set::visit(icode, [&](auto op) MK_INLINE {
      // The loader brings operands that wait for nothing, the follower the others.
      if (c.role == Role::loader || c.role == Role::follower) op.bring(c, c.role == Role::follower);
      if (c.role == Role::launcher) op.launch(c);
      if (c.role == Role::storer) op.store(c);
      end_instruction(c, op);
    });
    if (c.role == Role::storer) {
      // Consumers' stores are ordered here by their arrivals; the release publishes them and this lane's (rows 8, 10).
      wait_lane(c, slot_barrier(c, Layout<B>::kWritten), turn, WaitKind::written);
      arrive_counters(c);
    }
    if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kSlotDone));
    ++c.iteration;
  }
}

/// A consumer warp.
template <class B, class Set>
MK_DEVICE void run_consumer(Context<B>& c) {
  while (true) {
    wait_warp(c, slot_barrier(c, Layout<B>::kSlotReady), c.iteration / B::kSlots, WaitKind::slot_ready);
    if (c.aborted) return device::one_lane([&] { report_abort(c); });
    uint32_t icode = 0;
    if (begin_instruction(c, icode)) return;
    icode = device::warp_uniform(device::Lanes<uint32_t>(icode));
    Set::visit(icode, [&](auto op) MK_INLINE {
      op.consume(c);
      device::one_lane([&] {
        if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kWritten));
      });
      op.consumed(c);
      end_instruction(c, op);
    });
    device::one_lane([&] {
      if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kSlotDone));
    });
    ++c.iteration;
  }
}

}  // namespace megakittens::interpreter
