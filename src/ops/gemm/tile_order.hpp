// The order in which the tiles of a product stand in the program.
#pragma once

#include <cstdint>
#include <utility>

namespace megakittens::ops::gemm {

enum class TileOrder : std::uint8_t {
  /// The seed's: supergroups of 8 columns, all rows of one before the next, odd ones from the last row up.
  columns,
  /// Groups of eight rows, or of four where there are no more than eight; all columns of one before the next. A product
  /// that reads this one's result by rows begins while later groups are under way, and fills SMs that have no tile left
  /// in this one's last round (docs/concepts/interpreter.md has figures). Inside a group strips of 8 columns, and in
  /// these bands of four rows, column by column: sixteen SMs that start together read four tiles of each operand.
  rows,
};

/// (row tile, column tile) of the j-th tile.
std::pair<std::int64_t, std::int64_t> tile_at(TileOrder order, std::int64_t j, std::int64_t row_tiles,
                                              std::int64_t column_tiles);

}  // namespace megakittens::ops::gemm
