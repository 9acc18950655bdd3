// Which tiles a product is cut into.
#pragma once

#include "ops/gemm/space.hpp"

namespace megakittens::ops::gemm {

enum class Loop : std::uint8_t { hopper, divided, narrow, blackwell };

/// A tile, and what one takes in clocks: a fixed cost, rounded from traces on an H200, and one for each 64 of K, by
/// arithmetic: 128 x 256 tiles are bound by the tensor cores, the others by what an SM takes in from L2, 64 bytes a
/// clock.
struct LoopShape {
  Loop loop;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t fixed_clocks;
  std::int64_t chunk_clocks;
};

/// Rows [0, rows) of every matrix in tiles of one shape, the others in smaller ones. `rows` is M where one shape does.
struct Cut {
  LoopShape upper;
  std::int64_t rows;
  LoopShape lower;
};

/// The cut that takes the least time by the figures above; the seed's tiling and Blackwell know one loop. A product
/// alone takes whole rounds over the SMs, and a round that would be nearly empty is one of smaller tiles instead. Among
/// other products its last round is filled by the next one's tiles (TileOrder::rows), or it fills theirs, but where all
/// of its tiles run at once it takes as long as one of them.
Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options);

}  // namespace megakittens::ops::gemm
