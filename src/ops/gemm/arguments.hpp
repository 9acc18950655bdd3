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

}  // namespace megakittens::ops::gemm
