// Index words of both elementwise types, and of what the tiled one keeps in its record. Shared by host and device.
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops::elementwise {

/// instruction.index: first element in the four record dimensions, and extents of the last two.
enum Index { kOuter0, kOuter1, kRow, kColumn, kRows, kColumns, kIndexCount };

/// A tile is `kTileColumns` wide; a chunk of byte code covers 4 rows of it, or one row of 512 columns where the
/// record's space has a single row.
inline constexpr int32_t kTileColumns = 128;
inline constexpr int32_t kChunkRows = 4;
inline constexpr int32_t kLongRow = 512;

/// record.parameters of the tiled type. A tile's operands lie in slots of `kSlotBytes`, packed into pages.
enum Parameter { kTileRows, kSlotBytes, kSlotsPerTile, kSlotsPerPage, kParameterCount };

/// record.flags
inline constexpr uint32_t kSingleRow = 1;  ///< one row: chunks are 512 columns long

/// How an operand of the tiled type reaches the byte code: OperandRecord::map names its map where it has a slot.
inline constexpr int32_t kNoSlot = -1;

/// Slot of operand `k` in a tile: operands with a map take slots in order. An output shares the slot of the first input
/// with a map and the same element size (`shared`), else takes its own.
inline constexpr uint32_t kSharesSlot = 1u << 6;  ///< OperandRecord::flags bit of such an output

}  // namespace megakittens::ops::elementwise
