// From a warpgroup's accumulators through the record's byte code to global memory, sixteen values in a lane at a time.
#pragma once

#include "ops/gemm/arguments.hpp"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops {

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

/// Stores a warp's 16 rows of a 64 x kColumns accumulator tile whose first row is `first_row`. The array is turned
/// round by one chunk after another, so that the loop stays rolled and every access to it has a fixed number.
template <int kColumns, class B>
MK_DEVICE void store_accumulators(device::Context<B>& c, Lanes<float> (&acc)[kColumns / 2], int32_t first_row) {
  constexpr uint32_t kCount = kColumns / 2;
  const program::NodeRecord* record = c.record();
  GlobalPort<B> port{c, record, {}};
  Place& place = port.place;
  place.outer0 = c.index(gemm::kOuter0);
  place.outer1 = c.index(gemm::kOuter1);
  place.row_end = c.index(gemm::kRow) + c.index(gemm::kRows);
  place.column_end = c.index(gemm::kColumn) + c.index(gemm::kColumns);
  const Lanes<int32_t> lane = device::convert<int32_t>(device::lane_index());
  MK_UNROLL for (int32_t g = 0; g < 2; ++g) place.row[g] =
      (lane >> 2) + (first_row + static_cast<int32_t>(c.warp % 4) * 16 + 8 * g);
  MK_ROLLED for (int32_t n = 0; n < kColumns; n += 32) {
    Lanes<float> chunk[kChunk];
    transpose_quad(acc, chunk);
    MK_UNROLL for (uint32_t g = 0; g < 2; ++g) place.column[g] = (lane & 3) * 8 + (c.index(gemm::kColumn) + n);
    run_code<program::kGemmTemporaries>(record, chunk, port);
    if (n + 32 < kColumns) MK_UNROLL for (uint32_t i = 0; i + kChunk < kCount; ++i) acc[i] = acc[i + kChunk];
  }
}

}  // namespace megakittens::ops
