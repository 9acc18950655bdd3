// Which tiles a product is cut into.
#pragma once

#include "ops/gemm/space.hpp"
#include "ops/gemm/tile.hpp"

namespace megakittens::ops::gemm {

/// The tensor cores of an architecture.
Cores cores_of(program::Architecture architecture);

/// Rows [0, rows) of every matrix in tiles of one shape, the others in smaller ones. `rows` is M where one shape does.
struct Cut {
  TileName upper;
  std::int64_t rows;
  TileName lower;
};

/// The cut that takes the least time by the tiles' figures; the seed's tiling knows the largest tile only, and
/// PlanOptions::tile names another. A product alone takes whole rounds over the SMs, and a round that would be nearly
/// empty is one of smaller tiles instead. Among other products its last round is filled by the next one's tiles, as far
/// as these find their rows done (TileOrder::rows); the figure is what a chain of three takes. OptionError for a tile
/// that the architecture lacks; where code does not round first, a tile that does not take such is not taken.
Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options);

}  // namespace megakittens::ops::gemm
