// Every pointwise operation in small graphs, and how far its results may lie from the reference's.
#pragma once

#include <span>

#include "ir/builder.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {

/// All of ir::PointwiseOp, from its own list.
std::span<const ir::PointwiseOp> pointwise_operations();

/// Whether it is computed by different roads in the reference and on either machine. The others are exact.
bool is_function(ir::PointwiseOp op);
/// Zero where the operation is exact, else room for `units` roundings of its result to the type.
Tolerance tolerance_of(ir::PointwiseOp op, ir::DType dtype, float units = 1);
/// Whether it needs positive arguments to give numbers.
bool is_of_positive(ir::PointwiseOp op);
/// Floating inputs in the domain of operations that are of positive arguments, or of any.
void choose_domain(bool positive, RunSetup& setup);

/// A graph and what each of its outputs was computed by.
struct OperationGraph {
  ir::Graph graph;
  std::vector<ir::PointwiseOp> ops;
  std::vector<Tolerance> tolerances;
};

/// The operations alone, on a tiled shape and on one that only the general type takes: two outputs each, in this order.
/// The arguments have type `from`, the results `to` (bool for comparisons).
OperationGraph alone(std::span<const ir::PointwiseOp> ops, ir::DType from, ir::DType to);
/// Each between exact operations: behind neg or abs, before a product with a row, or a choice by a comparison's result.
OperationGraph in_chains(std::span<const ir::PointwiseOp> ops, ir::DType dtype);
/// Each behind a matrix product of its own. For whole numbers as inputs: the product's sums are exact then.
OperationGraph behind_products(std::span<const ir::PointwiseOp> ops, ir::DType dtype);

}  // namespace megakittens::test
