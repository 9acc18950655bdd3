// A base for device halves whose consumers read inputs and write outputs where they lie in global memory, by ordinary
// accesses: any strides and alignment, no pages, no tensor maps. For users' types.
#pragma once

#include "ops/noop/device.cuh"
#include "ops/pointwise/machine.cuh"
#include "ops/user/arguments.hpp"

namespace megakittens::ops {

struct Direct : Quiet {
  /// One stage without bytes hands the follower's acquire to the consumers (rows 8 and 10).
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>&) const {
    return 1;
  }
  template <class B>
  MK_DEVICE void bring(device::Context<B>& c, bool dependent) const {
    wait_stage_free(c, 0, device::kRingStages);
    if (dependent) wait_counters(c, 0xff & ~program::kGuardWrite);
    fill_stage(c, 0, 0);
  }
  /// Every consumer warp first: passes the pages on and waits until inputs are there and outputs may be written.
  template <class B>
  MK_DEVICE void begin(device::Context<B>& c) const {
    pass_pages_warp(c);
    wait_writable_warp(c);
    wait_stage_full_warp(c, 0);
  }
  /// And last: its reads are over. Its stores are published by what the interpreter does next.
  template <class B>
  MK_DEVICE void end(device::Context<B>& c) const {
    device::speak_for_warp([&](uint32_t arrivals) { free_stage(c, 0, arrivals); });
  }
};

/// Whether the loader (`dependent` false) or the follower (true) brings operand k: the follower what waits for
/// counters.
template <class B>
MK_DEVICE bool brings(const device::Context<B>& c, uint32_t k, bool dependent) {
  uint32_t guarded = 0;
  MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
  return ((guarded & program::guard_bit(k)) != 0) == dependent;
}

/// Bytes from the base of operand k's window to the position in its dimensions between the first two and the last two
/// that index words from `first` on say, one each: of a tensor with more than four dimensions. Reads the node's record.
template <class B>
MK_DEVICE int64_t middle_offset(const device::Context<B>& c, uint32_t k, uint32_t first) {
  const program::NodeRecord* record = c.launch.records + c.word(program::kWordNode);
  auto middle = [&](uint32_t j) {
    return static_cast<uint32_t>(device::constant(&record->parameters[kUserMiddle + j / 8])) >> (4 * (j % 8)) & 15;
  };
  uint32_t word = 0;
  MK_ROLLED for (uint32_t j = 0; j < k; ++j) word += 2 * middle(j);
  const uint32_t count = middle(k);
  int64_t elements = 0;
  MK_ROLLED for (uint32_t d = 0; d < count; ++d) elements +=
      int64_t{c.index(first + d)} * int64_t{device::constant(&record->reserved[word + count + d])};
  return elements * int64_t{element_size(c.operand_word(k) & 0xff)};
}

/// What store_result() moves: operands of the operations fused behind the call, and its result.
template <class B, class Place>
struct ResultPort {
  const device::Context<B>& c;
  const Place& place;
  uint32_t middle;

  MK_DEVICE GlobalOperand operand(uint32_t k) const {
    device::OperandWindow window = c.window(k);
    if (middle != 0) window.base += middle_offset(c, k, middle);
    return GlobalOperand(window);
  }
  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kChunk]) const { operand(k).load(place, values); }
  MK_DEVICE void store(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    if (!c.aborted) operand(k).store(place, values);
  }
};

/// Of a type that takes epilogues, in place of a store of its own: applies what is fused behind the call to a chunk of
/// results, as they are in fp32, and stores it. `values` are used up. `middle`: the number of the first index word that
/// middle_offset() takes, where the result has more than four dimensions.
template <class B, class Place>
MK_DEVICE void store_result(const device::Context<B>& c, const Place& place, Lanes<float> (&values)[kChunk],
                            uint32_t middle = 0) {
  ResultPort<B, Place> port{c, place, middle};
  run_code<kUserTemporaries, kChunk>(c, values, port);
}

/// 512 columns of one row, for GlobalOperand: lane l holds columns 8 l to 8 l + 7 of each half.
struct RowPlace {
  int32_t at;       ///< the row
  int32_t first;    ///< column
  int32_t columns;  ///< of the row: one past the last that is touched
  static constexpr int32_t kWidth = 512;

  MK_DEVICE Lanes<int32_t> row(uint32_t) const { return Lanes<int32_t>(at); }
  MK_DEVICE Lanes<int32_t> column(uint32_t g) const {
    return device::convert<int32_t>(device::lane_index()) * 8 + (first + static_cast<int32_t>(256 * g));
  }
  MK_DEVICE int32_t row_end() const { return at + 1; }
  MK_DEVICE int32_t column_end() const { return columns; }
  /// Which of the chunk's values lie inside the row.
  MK_DEVICE Lanes<bool> inside(uint32_t i) const { return column(i / kRun) + static_cast<int32_t>(i % kRun) < columns; }
};

}  // namespace megakittens::ops
