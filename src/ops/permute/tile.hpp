// How permutations are cut: the tile of a warp and what follows from it, and the box of an instruction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ops/permute/arguments.hpp"

namespace megakittens::ops::permute {

using Sizes = std::array<std::int64_t, program::kMaxTileRank>;

/// A copy between two orders: sizes, and both strides in elements. The output's strides descend.
struct Copy {
  Sizes sizes{};
  Sizes input{};
  Sizes output{};
  std::uint32_t input_bytes = 0;  ///< of an element
  std::uint32_t output_bytes = 0;
  bool cast = false;
};

/// What all tiles of a node share.
struct Tile {
  Sizes extents{};
  Sizes strides{};  ///< bytes in shared memory
  Side input{};
  Side output{};
  Gather gather{};
};

/// Everything that follows from a tile's extents; empty where device code cannot move such a tile.
std::optional<Tile> tile_with(const Copy& copy, const Sizes& extents);

/// The tile that moves in the longest runs, small enough that each of `warps` warps has one where that is possible.
/// Empty where no tile fits.
std::optional<Tile> choose_tile(const Copy& copy, std::int64_t warps);

/// Tiles of an instruction in each dimension: at most `most` together, so that `sms` SMs end together.
Sizes choose_box(const Copy& copy, const Tile& tile, std::int64_t sms);

/// Tiles of a box of such extents.
Sizes tiles_of(const Sizes& box, const Tile& tile);

/// The tile's words of a record.
struct TileWords {
  std::array<std::int32_t, 8> parameters{};
  std::array<std::uint32_t, 16> reserved{};
};
TileWords words_of(const Copy& copy, const Tile& tile);

}  // namespace megakittens::ops::permute
