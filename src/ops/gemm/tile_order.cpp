#include <algorithm>

#include "ops/gemm/space.hpp"

namespace megakittens::ops::gemm {
namespace {

using Tile = std::pair<std::int64_t, std::int64_t>;

constexpr std::int64_t kStripColumns = 8, kBandRows = 4, kGroupRows = 8;

Tile by_columns(std::int64_t j, std::int64_t row_tiles, std::int64_t column_tiles) {
  std::int64_t strip = j / (kStripColumns * row_tiles);
  std::int64_t first = strip * kStripColumns;
  std::int64_t width = std::min(kStripColumns, column_tiles - first);
  std::int64_t inside = j - first * row_tiles;
  std::int64_t row = inside / width;
  if (strip % 2 == 1) row = row_tiles - 1 - row;
  return {row, first + inside % width};
}

/// Of the tiles of a group of `rows` rows.
Tile in_group(std::int64_t j, std::int64_t rows, std::int64_t columns) {
  std::int64_t first_column = j / (kStripColumns * rows) * kStripColumns;
  std::int64_t width = std::min(kStripColumns, columns - first_column);
  std::int64_t inside = j - first_column * rows;
  std::int64_t first_row = inside / (kBandRows * width) * kBandRows;
  std::int64_t height = std::min(kBandRows, rows - first_row);
  std::int64_t place = inside - first_row * width;
  return {first_row + place % height, first_column + place / height};
}

Tile by_rows(std::int64_t j, std::int64_t row_tiles, std::int64_t column_tiles) {
  const std::int64_t group_rows = row_tiles <= kGroupRows ? kBandRows : kGroupRows;
  std::int64_t group = j / (group_rows * column_tiles);
  std::int64_t first = group * group_rows;
  std::int64_t rows = std::min(group_rows, row_tiles - first);
  std::int64_t inside = j - first * column_tiles;
  // Odd groups the other way round: they begin with the columns that are still in L2.
  if (group % 2 == 1 && column_tiles > kStripColumns) inside = rows * column_tiles - 1 - inside;
  auto [row, column] = in_group(inside, rows, column_tiles);
  return {first + row, column};
}

}  // namespace

Tile tile_at(TileOrder order, std::int64_t j, std::int64_t row_tiles, std::int64_t column_tiles) {
  return order == TileOrder::columns ? by_columns(j, row_tiles, column_tiles) : by_rows(j, row_tiles, column_tiles);
}

}  // namespace megakittens::ops::gemm
