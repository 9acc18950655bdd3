// The loops of the roles that work on published instructions.
#pragma once

#include "device/vocabulary/pages.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Layout;
using device::Role;
using device::WaitKind;

/// No instruction: the list has ended, or the launch is given up.
inline constexpr uint32_t kNoInstruction = 0xffffffffu;

/// Reads what every role needs of the slot's instruction, and returns its icode.
template <class B>
MK_DEVICE uint32_t begin_instruction(Context<B>& c) {
  const uint32_t header = c.word(0);
  c.counts = c.word(program::kWordCounts);
  const bool stop = (header >> 16 & program::kFlagStop) != 0;
  annotate_instruction(c, [&] { return stop ? int64_t{-1} : int64_t{c.word(program::kWordNumber)}; });
  return stop ? kNoInstruction : header & 0xffff;
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

// Loader, follower, launcher and storer: one lane each, every one with a loop of its own.

/// Waits for the next instruction and returns its icode.
template <class B>
MK_DEVICE uint32_t next_instruction(Context<B>& c) {
  wait_lane(c, slot_barrier(c, Layout<B>::kSlotReady), c.iteration / B::kSlots, WaitKind::slot_ready);
  if (c.aborted) return kNoInstruction;
  return begin_instruction(c);
}

template <class B>
MK_DEVICE void leave_instruction(Context<B>& c) {
  if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kSlotDone));
  ++c.iteration;
}

/// The loader brings operands that wait for nothing, the follower the others.
template <class B, class Set>
MK_DEVICE void run_loader(Context<B>& c) {
  while (true) {
    const uint32_t icode = next_instruction(c);
    if (icode == kNoInstruction) return;
    Set::visit(icode, [&](auto op) MK_INLINE {
      op.bring(c, c.role == Role::follower);
      end_instruction(c, op);
    });
    leave_instruction(c);
  }
}

template <class B, class Set>
MK_DEVICE void run_launcher(Context<B>& c) {
  while (true) {
    const uint32_t icode = next_instruction(c);
    if (icode == kNoInstruction) return;
    Set::visit(icode, [&](auto op) MK_INLINE {
      op.launch(c);
      end_instruction(c, op);
    });
    leave_instruction(c);
  }
}

template <class B, class Set>
MK_DEVICE void run_storer(Context<B>& c) {
  while (true) {
    const uint32_t icode = next_instruction(c);
    if (icode == kNoInstruction) return;
    // Reuse waits come before the first write, whichever role writes (row 12).
    if (wait_counters(c, program::kGuardWrite)) ptx::fence_proxy_async_global();
    if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kWritable));
    Set::visit(icode, [&](auto op) MK_INLINE {
      op.store(c);
      end_instruction(c, op);
    });
    // Consumers' stores are ordered here by their arrivals; the release publishes them and this lane's (rows 8, 10).
    wait_lane(c, slot_barrier(c, Layout<B>::kWritten), c.iteration / B::kSlots, WaitKind::written);
    arrive_counters(c);
    leave_instruction(c);
  }
}

/// A consumer warp.
template <class B, class Set>
MK_DEVICE void run_consumer(Context<B>& c) {
  while (true) {
    wait_warp(c, slot_barrier(c, Layout<B>::kSlotReady), c.iteration / B::kSlots, WaitKind::slot_ready);
    if (c.aborted) return;
    const uint32_t icode = device::warp_uniform(device::Lanes<uint32_t>(begin_instruction(c)));
    if (icode == kNoInstruction) return;
    Set::visit(icode, [&](auto op) MK_INLINE {
      op.consume(c);
      device::speak_for_warp([&](uint32_t arrivals) {
        if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kWritten), arrivals);
      });
      op.consumed(c);
      end_instruction(c, op);
    });
    device::speak_for_warp([&](uint32_t arrivals) {
      if (!c.aborted) ptx::mbarrier_arrive(slot_barrier(c, Layout<B>::kSlotDone), arrivals);
    });
    ++c.iteration;
  }
}

}  // namespace megakittens::interpreter
