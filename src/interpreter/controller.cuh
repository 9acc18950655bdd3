// The controller warp: fetches instruction words ahead, renames pages, and publishes slots.
#pragma once

#include "device/vocabulary/pages.cuh"
#include "interpreter/node_registers.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Lanes;
using device::Layout;
using device::WaitKind;
using device::Words;

/// Instructions whose words are already in registers when their turn comes: hides the latency of L2.
inline constexpr uint32_t kFetchAhead = 4;

/// Two words of the next instruction in each lane; a stop instruction at the end of the list.
template <class B>
MK_DEVICE Words<2> fetch_next(const Context<B>& c, uint32_t& fetched) {
  const program::LaunchParameters& launch = c.launch;
  const uint32_t grid = ptx::nctaid_x();
  uint32_t position = fetched * grid + ptx::ctaid_x();
  if (launch.global_queue != 0) {
    // Every CTA draws exactly one position past the end, so that a launch takes a known number of tickets.
    const uint32_t taken =
        device::one_lane_value([&] { return ptx::atom_relaxed_gpu_add_u32(&launch.control->head, 1); });
    position = taken - c.epoch * (launch.instruction_count + grid);
  }
  ++fetched;
  Words<2> words;
  if (position < launch.instruction_count) {
    words = ptx::ld_global_v2(launch.instructions, Lanes<uint64_t>(uint64_t{position} * sizeof(program::Instruction)) +
                                                       device::convert<uint64_t>(device::lane_index() * 8));
  } else {
    words.w[0] = uint32_t{program::kFlagStop} << 16;
    words.w[1] = 0u;
  }
  return words;
}

/// Logical page q of the next instruction is the page that this one finishes q-th.
template <class B>
MK_DEVICE uint64_t rename_pages(uint64_t map, uint64_t order) {
  uint64_t renamed = 0;
  MK_UNROLL for (uint32_t q = 0; q < B::kPages; ++q) {
    const uint32_t lid = static_cast<uint32_t>(order >> (4 * q)) & 15;
    renamed |= (map >> (4 * lid) & 15) << (4 * q);
  }
  return renamed;
}

/// Row 27: ordinary stores by the warp's lanes, ordered before one lane's arrival on the slot.
template <class B>
MK_DEVICE void publish(const Context<B>& c, const Words<2>& words, uint64_t page_map) {
  ptx::st_shared_v2(c.slot_address() + device::lane_index() * 8, words);
  device::one_lane([&] {
    ptx::st_shared_u64(c.slot_address() + Layout<B>::kPageMap, Lanes<uint64_t>(page_map));
    ptx::mbarrier_arrive(c.base + Layout<B>::kSlotReady + 8 * c.slot());
  });
}

template <class B>
MK_DEVICE void run_controller(Context<B>& c) {
  Words<2> queue[kFetchAhead];
  uint32_t fetched = 0;
  bool drawn_all = false;
  auto word_of_lane = [](const Lanes<uint32_t>& word, uint32_t lane) {
    return device::warp_uniform(device::shuffle_index(word, Lanes<uint32_t>(lane)));
  };
  auto is_stop = [&](const Words<2>& words) { return (word_of_lane(words.w[0], 0) >> 16 & program::kFlagStop) != 0; };
  auto refill = [&](Words<2>& words) {
    if (drawn_all) return;
    words = fetch_next(c, fetched);
    drawn_all = is_stop(words);
  };
  MK_UNROLL for (uint32_t j = 0; j < kFetchAhead; ++j) {
    queue[j].w[0] = uint32_t{program::kFlagStop} << 16;
    queue[j].w[1] = 0u;
    refill(queue[j]);
  }
  uint64_t page_map = program::kReleaseInOrder;
  NodeRegisters node{};
  node.node = kNoNode;
  uint32_t code_of_slot[B::kSlots];
  MK_UNROLL for (uint32_t s = 0; s < B::kSlots; ++s) code_of_slot[s] = kNoNode;
  while (true) {
    MK_UNROLL for (uint32_t j = 0; j < kFetchAhead; ++j) {
      const uint32_t turn = c.iteration / B::kSlots;
      // Before the wait for the slot, which hides the loads' latency where instructions are long.
      const uint32_t icode = word_of_lane(queue[j].w[0], 0);  // flags and all: a stop is none of them
      const uint32_t number = word_of_lane(queue[j].w[program::kWordNode % 2], program::kWordNode / 2);
      const bool has_node = icode != 0 && !is_stop(queue[j]);
      if (has_node && number != node.node) load_node(c, number, node);
      if (turn > 0) wait_warp(c, c.base + Layout<B>::kSlotDone + 8 * c.slot(), turn - 1, WaitKind::slot_free, c.slot());
      if (c.aborted) return device::one_lane([&] { report_abort(c); });
      if (has_node) {
        bool with_code = true;
        MK_UNROLL for (uint32_t s = 0; s < B::kSlots; ++s) if (s == c.slot()) {
          with_code = code_of_slot[s] != number;
          code_of_slot[s] = number;
        }
        const uint32_t outer0 = word_of_lane(queue[j].w[0], program::kWordIndex / 2);
        const uint32_t outer1 = word_of_lane(queue[j].w[1], program::kWordIndex / 2);
        write_node(c, node, static_cast<int32_t>(outer0), static_cast<int32_t>(outer1), with_code);
      }
      publish(c, queue[j], page_map);
      if (is_stop(queue[j])) return;
      constexpr uint32_t kOrderLane = program::kWordReleaseOrder / 2;
      const uint64_t order =
          uint64_t{word_of_lane(queue[j].w[1], kOrderLane)} << 32 | word_of_lane(queue[j].w[0], kOrderLane);
      page_map = rename_pages<B>(page_map, order);
      refill(queue[j]);
      ++c.iteration;
    }
  }
}

}  // namespace megakittens::interpreter
