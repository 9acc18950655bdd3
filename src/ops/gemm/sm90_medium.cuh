// Hopper's loop for 128 x 128 tiles: each warpgroup multiplies its 64 rows, in six stages of 64 along K. In a stage: B
// K-major as 128 columns of 64 k, N-major as two blocks of 64 columns; then A, 128 rows of 64 k.
#pragma once

#include "ops/gemm/sm90_divided.cuh"

namespace megakittens::ops::sm90 {

struct MediumTile : StagePages {
  static constexpr uint32_t kRows = gemm::kHopperRows, kColumns = gemm::kMediumColumns;
  static constexpr uint32_t kDepth = gemm::kStageDepth;
  static constexpr uint32_t kSums = kColumns / 2;         ///< a lane's share of 64 rows
  static constexpr uint32_t kBlockBytesB = kDepth * 128;  ///< N-major: 64 columns
  /// From what the lower warpgroup multiplies to what the upper one does: other rows of A, the same B.
  static constexpr uint32_t kUpperA = kRows / 2 * 128, kUpperB = 0, kUpperNMajorB = 0;
};

/// The warp's part of the tile.
template <class B>
MK_DEVICE TilePart medium_part(const Context<B>& c) {
  return {c.warp * 16, 0, gemm::kMediumColumns};
}

/// Such an instruction. Where its code has no short epilogue the result is false, and the warp's part lies in acc.
template <class B>
MK_DEVICE bool run_medium(Context<B>& c, const Kind& kind, Lanes<float> (&acc)[MediumTile::kSums]) {
  const TilePart part = medium_part(c);
  ShortEpilogue<MediumTile::kColumns> epilogue;
  epilogue.prepare(c, part, MediumTile::kRows, MediumTile::kColumns);
  wait_stage_full_warp(c, 0);
  if (c.aborted) epilogue.add = false;
  epilogue.prefetch_before();
  multiply_part<MediumTile>(c, kind, acc);
  const uint32_t count = gemm::stages<MediumTile>(c);
  if (count > 0) release_stage<MediumTile>(c, count - 1, count);
  if (!epilogue.usable) return false;
  epilogue.prefetch_after();
  wait_writable_warp(c);
  if (!c.aborted) epilogue.store(c, acc, part);
  return true;
}

}  // namespace megakittens::ops::sm90
