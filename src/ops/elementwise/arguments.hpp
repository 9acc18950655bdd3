// Index words of both elementwise types. Shared by host and device.
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops::elementwise {

/// instruction.index: first element in the four record dimensions, and extents of the last two; then flags, number of
/// operands and rows of a tile (8, 8 and 16 bits); and for the tiled type the bytes of a slot, slots of a tile and of a
/// page (16 bits each), and each operand's slot, four bits.
enum Index { kOuter0, kOuter1, kRow, kColumn, kRows, kColumns, kShape, kSlotBytes, kSlotCounts, kSlotsLow, kSlotsHigh };

/// A tile is `kTileColumns` wide; a chunk of byte code covers 4 rows of it, or one row of 512 columns where the
/// record's space has a single row.
inline constexpr int32_t kTileColumns = 128, kMostTileRows = 128;
inline constexpr int32_t kChunkRows = 4;
inline constexpr int32_t kLongRow = 512;

/// The lowest bit of kShape: one row, chunks are 512 columns long.
inline constexpr uint32_t kSingleRow = 1;

// The tiled type: a tile's operands lie in slots of equal size, packed into pages. Operands with a map have a slot; an
// output takes that of the first input with one and the same element size, else its own.

}  // namespace megakittens::ops::elementwise
