// Graphs whose operands are views: shapes, strides, broadcasting, and updates in place. Their operations are exact.
#pragma once

#include <string>
#include <vector>

#include "ir/builder.hpp"

namespace megakittens::test {

/// As rows, columns, scalars and leading dimensions.
ir::Graph broadcast_operands(ir::DType dtype);
ir::Graph two_broadcast_operands_of_a_larger_result();
/// Extents of zero and one, and odd ones.
ir::Graph odd_and_empty_sizes(ir::DType dtype);
ir::Graph eight_dimensions();
/// Slices, steps, selects, transposes and expansions, computed from and copied.
ir::Graph slices_and_transposes(ir::DType dtype);
/// Windows of a vector, each a few elements further: of an input that is written afterwards, and of a computed one.
ir::Graph overlapping_rows();
/// Inputs that are no dense tensors.
ir::Graph inputs_with_strides();
ir::Graph updates_in_place(ir::DType dtype);
/// A tensor between nodes, read before and after it is written.
ir::Graph update_of_a_computed_tensor();
/// x[1:] = x[:-1], through a copy.
ir::Graph update_from_a_shifted_part_of_itself();
/// A scalar that is read, written and read again, and a vector that waits for it.
ir::Graph scalars_in_place();
/// More than a byte counts.
ir::Graph many_tensors();

struct NamedGraph {
  std::string name;
  ir::Graph graph;
};
/// All of the above, in every floating type.
std::vector<NamedGraph> view_graphs();

}  // namespace megakittens::test
