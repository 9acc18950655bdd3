// Where a chunk of an elementwise tile lies: four rows of 128 columns, or one of 512.
#pragma once

#include "ops/elementwise/arguments.hpp"
#include "ops/noop/device.cuh"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops {

namespace elementwise {

/// The lane's runs in the chunk that starts at (row, column).
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

}  // namespace megakittens::ops
