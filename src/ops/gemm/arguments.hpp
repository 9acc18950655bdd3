// Index words and record parameters of the GEMM types. Shared by host and device.
// Operands: A [outer, outer, M, K], B [outer, outer, K, N], then what the epilogue reads, then the output, each
// [outer, outer, M, N].
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops::gemm {

/// instruction.index: batch position, first row and column of the output tile, its extents (already clipped), K.
enum Index { kOuter0, kOuter1, kRow, kColumn, kRows, kColumns, kTileDepth, kIndexCount };

/// record.parameters
enum Parameter { kDepth, kParameterCount };

/// Elements of K in one stage.
inline constexpr int32_t kStageDepth = 64;

/// Output tile of one CTA.
inline constexpr int32_t kHopperRows = 128, kHopperColumns = 256;
/// Hopper, smaller products.
inline constexpr int32_t kMediumColumns = 128;
inline constexpr int32_t kDividedRows = 64, kDividedColumns = 128, kNarrowColumns = 64;
inline constexpr int32_t kDividedDepth = 2 * kStageDepth;
inline constexpr int32_t kBlackwellRows = 256, kBlackwellColumns = 256;

}  // namespace megakittens::ops::gemm
