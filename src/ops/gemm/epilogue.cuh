// From a warpgroup's accumulators through the record's byte code to global memory, sixteen values in a lane at a time.
#pragma once

#include "ops/gemm/arguments.hpp"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops {

static_assert(gemm::kOuter0 == int{kTileOuter0} && gemm::kRow == int{kTileRow} &&
              gemm::kColumns == int{kTileColumnCount});

/// Exchanges the first sixteen accumulators between the four lanes of a quad: before, a lane holds two neighbouring
/// columns of each of four blocks of eight columns, in two rows; after, all eight columns of one block, in both rows.
MK_DEVICE void transpose_quad(const Lanes<float>* acc, Lanes<float> (&chunk)[kChunk]) {
  const Lanes<uint32_t> quad = device::lane_index() & 3u;
  const Lanes<bool> odd = (quad & 1u) != 0u, high = (quad & 2u) != 0u;
  MK_UNROLL for (uint32_t row = 0; row < 2; ++row) {
    MK_UNROLL for (uint32_t half = 0; half < 2; ++half) {
      // The word of block b that this half of the pair holds.
      Lanes<float> w[4];
      MK_UNROLL for (uint32_t b = 0; b < 4; ++b) w[b] = acc[4 * b + 2 * row + half];
      MK_UNROLL for (uint32_t b = 0; b < 4; b += 2) {
        const Lanes<float> got = device::shuffle_xor(device::select(odd, w[b], w[b + 1]), 1);
        w[b] = device::select(odd, got, w[b]);
        w[b + 1] = device::select(odd, w[b + 1], got);
      }
      MK_UNROLL for (uint32_t b = 0; b < 2; ++b) {
        const Lanes<float> got = device::shuffle_xor(device::select(high, w[b], w[b + 2]), 2);
        w[b] = device::select(high, got, w[b]);
        w[b + 2] = device::select(high, w[b + 2], got);
      }
      // w[b] now belongs to this lane's block, columns 2 b and 2 b + 1.
      MK_UNROLL for (uint32_t b = 0; b < 4; ++b) chunk[row * kRun + 2 * b + half] = w[b];
    }
  }
}

/// Where a lane's chunk lies after the exchange: columns from `first` on, sixteen rows a warp from `first_row` on.
template <class B>
struct QuadPlace : TileBounds<B> {
  uint32_t first_row = 0;  ///< of the tile's rows
  int32_t first = 0;       ///< of the tile's columns

  MK_DEVICE QuadPlace(const device::Context<B>& context, uint32_t row) : TileBounds<B>{context}, first_row(row) {}
  MK_DEVICE Lanes<int32_t> row(uint32_t g) const {
    return device::convert<int32_t>(device::lane_index() >> 2) +
           (this->c.index(kTileRow) + static_cast<int32_t>(first_row + 8 * g));
  }
  MK_DEVICE Lanes<int32_t> column(uint32_t) const {
    return device::convert<int32_t>(device::lane_index() & 3u) * 8 + (this->c.index(kTileColumn) + first);
  }
};

/// Which part of the instruction's tile a warp's accumulators are: sixteen rows from `row` on, columns from `column`
/// on.
struct TilePart {
  uint32_t row;
  int32_t column;
  int32_t columns;  ///< a multiple of 32
};

/// Runs the record's code on the accumulators and stores the result. The array is turned round by one chunk after
/// another, so that the loop stays rolled and every access to it has a fixed number.
template <uint32_t kCount, class B>
MK_DEVICE void store_accumulators(device::Context<B>& c, Lanes<float> (&acc)[kCount], const TilePart& part) {
  GlobalPort<B, QuadPlace<B>> port{c, QuadPlace<B>(c, part.row)};
  MK_ROLLED for (int32_t n = 0; n < part.columns; n += 32) {
    Lanes<float> chunk[kChunk];
    transpose_quad(acc, chunk);
    port.place.first = part.column + n;
    run_code<program::kGemmTemporaries, kChunk>(c, chunk, port);
    MK_UNROLL for (uint32_t i = 0; i + kChunk < kCount; ++i) acc[i] = acc[i + kChunk];
  }
}

}  // namespace megakittens::ops
