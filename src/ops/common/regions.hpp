// Regions read off a record: the part of an operand that an instruction's tile covers.
#pragma once

#include <array>

#include "ops/instruction_type.hpp"

namespace megakittens::ops {

/// Half-open ranges over a record's four dimensions.
struct TileRange {
  std::array<std::int64_t, 4> lo{};
  std::array<std::int64_t, 4> hi{};
};

/// Operand `k` of the record over the range, clipped to the operand's sizes. Empty `sizes` product where nothing is
/// left.
Region tile_region(const program::NodeRecord& record, int k, const TileRange& range);

/// A rank-4 box.
ir::Box box_of(const TileRange& range);

}  // namespace megakittens::ops
