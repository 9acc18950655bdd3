// The controller warp: fetches instruction words ahead, renames pages, and publishes slots.
#pragma once

#include "device/vocabulary/pages.cuh"
#include "interpreter/entry.cuh"
#include "interpreter/node_registers.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Lanes;
using device::Layout;
using device::WaitKind;
using device::Words;

/// Instructions whose words are fetched together, while the batch before runs: hides the latency of memory. Together,
/// because a warp has few scoreboards: where single fetches share one, a look at the oldest waits for the newest, which
/// made a noop take as long as a trip to memory. A global queue is drawn from one ahead, so that no CTA holds
/// instructions that another could begin. A fourth would cost registers that this warp does not have.
inline constexpr uint32_t kBatch = 3;

/// The instructions that this CTA is about to run.
struct Fetch {
  Words<2> ahead[kBatch];  ///< two words of each instruction in every lane; looked at when the batch begins
  uint32_t grid;
  uint32_t next;  ///< position of the next instruction of this CTA's list
  bool ended;     ///< the next position is past the end
};

/// The position of the next instruction of this CTA. Of a global queue every CTA draws exactly one past the end, so
/// that a launch takes a known number of them.
template <class B>
MK_DEVICE uint32_t next_position(const Context<B>& c, Fetch& fetch) {
  if (c.launch.global_queue == 0) {
    const uint32_t position = fetch.next;
    fetch.next += fetch.grid;
    return position;
  }
  const uint32_t taken =
      device::one_lane_value([&] { return ptx::atom_relaxed_gpu_add_u32(&c.launch.control->head, 1); });
  return taken - c.epoch * (c.launch.instruction_count + fetch.grid);
}

/// Fills `words` with those of the next instruction, or with a stop instruction past the end.
template <class B>
MK_DEVICE void refill(const Context<B>& c, Fetch& fetch, Words<2>& words) {
  words.w[0] = uint32_t{program::kFlagStop} << 16;
  words.w[1] = 0u;
  if (fetch.ended) return;
  const uint32_t position = next_position(c, fetch);
  fetch.ended = position >= c.launch.instruction_count;
  if (!fetch.ended)
    words =
        ptx::ld_global_v2(c.launch.instructions, Lanes<uint64_t>(uint64_t{position} * sizeof(program::Instruction)) +
                                                     device::convert<uint64_t>(device::lane_index() * 8));
}

/// Fetches the next batch; of a global queue only its first instruction.
template <class B>
MK_DEVICE void refill_batch(const Context<B>& c, Fetch& fetch) {
  MK_UNROLL for (uint32_t j = 0; j < kBatch; ++j) if (j == 0 || c.launch.global_queue == 0)
      refill(c, fetch, fetch.ahead[j]);
}

/// The first batch, or an empty list. Needs the epoch where the queue is global.
template <class B>
MK_DEVICE void begin_fetch(const Context<B>& c, Fetch& fetch, bool run) {
  fetch.grid = ptx::nctaid_x();
  fetch.next = ptx::ctaid_x();
  fetch.ended = !run;
  MK_UNROLL for (uint32_t j = 0; j < kBatch; ++j) fetch.ahead[j] = Words<2>{};
  refill_batch(c, fetch);
}

/// Logical page q of the next instruction is the page that this one finishes q-th.
template <class B>
MK_DEVICE uint32_t rename_pages(uint32_t map, uint32_t order) {
  static_assert(B::kPages <= 8);
  if (order == static_cast<uint32_t>(program::kReleaseInOrder)) return map;
  uint32_t renamed = 0;
  MK_UNROLL for (uint32_t q = 0; q < B::kPages; ++q) renamed |= device::mapped_page(map, order >> (4 * q) & 15)
                                                                << (4 * q);
  return renamed;
}

/// Row 27: ordinary stores by the warp's lanes, ordered before one lane's arrival on the slot.
template <class B>
MK_DEVICE void publish(const Context<B>& c, const Words<2>& words, uint32_t page_map) {
  ptx::st_shared_v2(c.slot_address() + device::lane_index() * 8, words);
  device::one_lane([&] {
    ptx::st_shared_u32(c.slot_address() + Layout<B>::kPageMap, Lanes<uint32_t>(page_map));
    ptx::mbarrier_arrive(c.base + Layout<B>::kSlotReady + 8 * c.slot());
  });
}

MK_DEVICE uint32_t word_of_lane(const Lanes<uint32_t>& word, uint32_t lane) {
  return device::lane_value<uint32_t>(device::shuffle_index(word, Lanes<uint32_t>(lane)));
}

/// What decides how the controller goes on with an instruction.
struct Head {
  bool stop;
  bool has_node;
  uint32_t node;

  MK_DEVICE explicit Head(const Words<2>& words) {
    const uint32_t first = word_of_lane(words.w[0], 0);  // icode and flags
    stop = (first >> 16 & program::kFlagStop) != 0;
    has_node = !stop && (first & 0xffff) != 0;
    node = word_of_lane(words.w[program::kWordNode % 2], program::kWordNode / 2);
  }
};

/// The controller's registers.
struct Controller {
  Fetch fetch;
  NodeRegisters node;
  NodeWords first;  ///< of the hinted node
  Entry entry;

  /// Makes the first trips to memory, all at once: the ticket, the first instructions and, beside them, the node that
  /// they probably belong to. Waits for none: the CTA's other warps are about to meet this one.
  template <class B>
  MK_DEVICE void begin(Context<B>& c) {
    c.role = device::Role::controller;
    // Nothing an earlier kernel wrote is touched before this (row 31).
    device::one_lane([&] {
      ptx::griddepcontrol_wait();
      ptx::griddepcontrol_launch_dependents();
      entry = take_ticket(c);
    });
    if (c.launch.global_queue == 0) begin_fetch(c, fetch, true);
    node.node = kNoNode;
    if (c.launch.first_node != kNoNode) request_node(c, c.launch.first_node, node, first);
  }
  /// Takes what they bring. Other roles find the epoch behind their first instruction.
  template <class B>
  MK_DEVICE void enter(Context<B>& c) {
    if (c.launch.first_node != kNoNode) resolve_node(c, first, node);
    c.epoch = device::one_lane_value([&] { return launch_number(entry); });
    const uint32_t admission = device::one_lane_value([&] {
      const auto result = static_cast<uint32_t>(admit(c, entry));
      ptx::st_shared_u32(c.base + Layout<B>::kEpoch, c.epoch);
      ptx::st_shared_u32(c.base + Layout<B>::kAdmission, result);
      return result;
    });
    const bool runs = admission == static_cast<uint32_t>(Admission::runs);
    if (c.launch.global_queue != 0 || !runs) begin_fetch(c, fetch, runs);
  }
};

template <class B>
MK_DEVICE void run_controller(Context<B>& c, Controller& state) {
  Fetch& fetch = state.fetch;
  NodeRegisters& node = state.node;
  uint32_t page_map = static_cast<uint32_t>(program::kReleaseInOrder);
  uint32_t code_of_slot[B::kSlots];  // whose byte code each holds, the next slot's last
  MK_UNROLL for (uint32_t s = 0; s < B::kSlots; ++s) code_of_slot[s] = kNoNode;
  while (true) {
    Words<2> batch[kBatch];
    MK_UNROLL for (uint32_t j = 0; j < kBatch; ++j) batch[j] = fetch.ahead[j];
    if (c.launch.global_queue == 0) refill_batch(c, fetch);
    MK_UNROLL for (uint32_t j = 0; j < kBatch; ++j) {
      const Words<2>& words = batch[j];
      const uint32_t turn = c.iteration / B::kSlots;
      const Head head(words);
      // Before the wait for the slot, which hides the loads' latency where instructions are long.
      if (head.has_node && head.node != node.node) load_node(c, head.node, node);
      if (turn > 0) wait_warp(c, c.base + Layout<B>::kSlotDone + 8 * c.slot(), turn - 1, WaitKind::slot_free, c.slot());
      if (c.aborted) return;
      const uint32_t held = code_of_slot[B::kSlots - 1];
      if (head.has_node) {
        const uint32_t outer0 = word_of_lane(words.w[0], program::kWordIndex / 2);
        const uint32_t outer1 = word_of_lane(words.w[1], program::kWordIndex / 2);
        write_node(c, node, static_cast<int32_t>(outer0), static_cast<int32_t>(outer1), held != head.node);
      }
      annotate_instruction(
          c, [&] { return head.stop ? int64_t{-1} : int64_t{word_of_lane(words.w[1], program::kWordNumber / 2)}; });
      publish(c, words, page_map);
      if (head.stop) return;
      page_map = rename_pages<B>(page_map, word_of_lane(words.w[0], program::kWordReleaseOrder / 2));
      if (c.launch.global_queue != 0) refill(c, fetch, j + 1 < kBatch ? batch[j + 1] : fetch.ahead[0]);
      MK_UNROLL for (uint32_t s = B::kSlots - 1; s > 0; --s) code_of_slot[s] = code_of_slot[s - 1];
      code_of_slot[0] = head.has_node ? head.node : held;
      ++c.iteration;
    }
  }
}

}  // namespace megakittens::interpreter
