// Where a chunk of an elementwise tile lies: four rows of 128 columns, or one of 512.
#pragma once

#include "ops/elementwise/arguments.hpp"
#include "ops/noop/device.cuh"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops {

namespace elementwise {

static_assert(kOuter0 == int{kTileOuter0} && kRow == int{kTileRow} && kColumns == int{kTileColumnCount});

/// The lane's runs in the chunk that starts at (first_row, first_column).
template <class B>
struct ChunkPlace : TileBounds<B> {
  bool single_row;
  int32_t first_row = 0;
  int32_t first_column = 0;

  MK_DEVICE ChunkPlace(const device::Context<B>& context, bool single) : TileBounds<B>{context}, single_row(single) {}
  MK_DEVICE Lanes<int32_t> row(uint32_t g) const {
    const Lanes<int32_t> lane = device::convert<int32_t>(device::lane_index());
    return device::select(Lanes<bool>(single_row), Lanes<int32_t>(0), (lane >> 4) + static_cast<int32_t>(2 * g)) +
           first_row;
  }
  MK_DEVICE Lanes<int32_t> column(uint32_t g) const {
    const Lanes<int32_t> lane = device::convert<int32_t>(device::lane_index());
    return device::select(Lanes<bool>(single_row), lane * 8 + static_cast<int32_t>(256 * g), (lane & 15) * 8) +
           first_column;
  }
};

}  // namespace elementwise

}  // namespace megakittens::ops
