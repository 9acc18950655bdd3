// Which tiles a product is cut into.
#pragma once

#include "ops/gemm/space.hpp"

namespace megakittens::ops::gemm {

enum class Loop : std::uint8_t { hopper, medium, divided, narrow, blackwell };

/// A tile, and what one takes in clocks when another goes before it on its SM: for each 64 of K, by arithmetic (128 x
/// 256 and 128 x 128 are bound by the tensor cores, the others by what an SM takes in from L2, 64 bytes a clock), and a
/// fixed rest, from what a further round of tiles takes on an H200 (docs/concepts/interpreter.md).
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

/// The cut that takes the least time by these figures; the seed's tiling and Blackwell know one loop. A product alone
/// takes whole rounds over the SMs, and a round that would be nearly empty is one of smaller tiles instead. Among other
/// products its last round is filled by the next one's tiles, as far as these find their rows done (TileOrder::rows);
/// the figure is what a chain of three takes.
Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options);

}  // namespace megakittens::ops::gemm
