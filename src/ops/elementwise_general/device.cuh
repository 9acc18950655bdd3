// Device half of the general elementwise type: consumers read and write global memory by ordinary accesses.
#pragma once

#include "ops/elementwise/arguments.hpp"
#include "ops/noop/device.cuh"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops {

namespace elementwise {

/// Where the lane's runs lie in the chunk that starts at (row, column): four rows of 128 columns, or one of 512.
MK_DEVICE void place_chunk(Place& place, bool single_row, int32_t row, int32_t column) {
  const Lanes<int32_t> lane = device::convert<int32_t>(device::lane_index());
  MK_UNROLL for (int32_t g = 0; g < static_cast<int32_t>(kRuns); ++g) {
    if (single_row) {
      place.row[g] = row;
      place.column[g] = lane * 8 + (column + 256 * g);
    } else {
      place.row[g] = (lane >> 4) + (row + 2 * g);
      place.column[g] = (lane & 15) * 8 + column;
    }
  }
}

}  // namespace elementwise

struct ElementwiseGeneral : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>&) const {
    return 1;
  }
  /// The one stage carries no bytes: it hands the follower's acquire to the consumers (rows 8 and 10).
  template <class B>
  MK_DEVICE void load(device::Context<B>& c) const {
    wait_stage_free(c, 0, device::kRingStages);
    fill_stage(c, 0, 0);
  }
  template <class B>
  MK_DEVICE void follow(device::Context<B>& c) const {
    wait_stage_free(c, 0, device::kRingStages);
    wait_counters(c, 0xff & ~program::kGuardWrite);
    fill_stage(c, 0, 0);
  }

  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using namespace elementwise;
    pass_pages_warp(c);
    const program::NodeRecord* record = c.record();
    GlobalPort<B> port{c, record, {}};
    const int32_t row = c.index(kRow), column = c.index(kColumn);
    port.place.outer0 = c.index(kOuter0);
    port.place.outer1 = c.index(kOuter1);
    port.place.row_end = row + c.index(kRows);
    port.place.column_end = column + c.index(kColumns);
    const bool single_row = (device::constant(&record->flags) & kSingleRow) != 0;
    const int32_t chunk_rows = single_row ? 1 : kChunkRows, chunk_columns = single_row ? kLongRow : kTileColumns;
    wait_stage_full_warp(c, 0);
    wait_writable_warp(c);
    // Chunks are dealt to the consumer warps in turn.
    uint32_t turn = 0;
    MK_ROLLED for (int32_t r = row; r < port.place.row_end; r += chunk_rows) {
      MK_ROLLED for (int32_t n = column; n < port.place.column_end; n += chunk_columns) {
        if (turn++ % device::kConsumerWarps != c.warp) continue;
        place_chunk(port.place, single_row, r, n);
        Lanes<float> acc[kChunk];
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = 0.0f;
        run_code<program::kTemporaries>(record, acc, port);
      }
    }
    device::one_lane([&] { free_stage(c, 0, 1); });
  }
};

}  // namespace megakittens::ops
