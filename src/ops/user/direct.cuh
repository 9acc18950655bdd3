// A base for device halves whose consumers read inputs and write outputs where they lie in global memory, by ordinary
// accesses: any strides and alignment, no pages, no tensor maps. What elementwise_general does, for users' types.
#pragma once

#include "ops/noop/device.cuh"
#include "ops/pointwise/place.cuh"

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
