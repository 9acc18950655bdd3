// Graphs around matrix products: every layout of their operands, batches, sizes of zero, and what waits for what. Whole
// numbers of -3 to 3 as inputs make their sums exact in any order.
#pragma once

#include "support/view_graphs.hpp"

namespace megakittens::test {

struct ProductSize {
  std::int64_t m, n, k;
};

/// [m, k] by [k, n], each stored as it is and transposed: four products.
ir::Graph products_in_all_layouts(ir::DType dtype, const ProductSize& size);
/// A product without depth, whose zeros a bias is added to.
ir::Graph a_bias_alone(ir::DType dtype);
/// Batches of either side that repeat or are missing; `odd` sizes take the general instructions.
ir::Graph broadcast_batches(ir::DType dtype, bool odd);
/// Parts, steps and transpositions of one input.
ir::Graph sliced_operands(ir::DType dtype);
/// Permutations that move a batch dimension, which are no transposition of the matrix.
ir::Graph permuted_batches(ir::DType dtype);
ir::Graph transposes_of_transposes();
/// On few SMs each batch is cut into tiles of two sizes.
ir::Graph batches_in_two_tiles();
/// Products, tiled and general pointwise nodes, and updates in place that all wait for each other. Intermediate sums of
/// magnitude 16 to 32 cancel: where another order of summation rounds one of them the other way, a result differs by
/// that magnitude's unit in the last place.
ir::Graph mixture();
/// One tile reads what twenty nodes wrote, more waits than an instruction holds; and one tile is read by many groups.
ir::Graph many_writers();

/// All of the above, in every floating type where they have one.
std::vector<NamedGraph> product_graphs();

}  // namespace megakittens::test
