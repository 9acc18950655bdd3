// Brings a node's operands into the at most four dimensions that records and tiles have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "program/program.hpp"

namespace megakittens::ops {

/// Views of one index space after merging: all have rank 4, size-1 dimensions in front.
struct MergedSpace {
  ir::Extents sizes;
  std::vector<ir::View> views;
};

/// Drops dimensions of size 1 and joins neighbours that every view walks as one. The last `keep` dimensions stay as
/// they are. All views have the same sizes. Empty where more than four dimensions remain.
std::optional<MergedSpace> merge_dimensions(const std::vector<ir::View>& views, int keep);

/// How node output `k` lies in the tensor that owns its storage: the mutation's view, or the whole tensor.
ir::View output_view(const ir::Graph& graph, const ir::Node& node, int k);
/// The tensor whose storage output `k` is written to.
const ir::Tensor& output_base(const ir::Graph& graph, const ir::Node& node, int k);

/// A record of a rank-4 view; storage is left for the scheduler.
program::OperandRecord operand_record(const ir::View& view, ir::DType dtype, bool output);

/// Why an operand's steps do not fit what a slot holds of it (32 bits for the bytes from column to column); empty where
/// they do.
std::optional<std::string> stride_problem(const ir::View& view, ir::DType dtype);

/// The map of a rank-4 view for bulk copies of `columns` x `rows` elements of its last two dimensions, which has one
/// element where the view is broadcast. `operand` stands for its storage until scheduled.
program::TensorMapDescription tensor_map(const ir::View& view, ir::DType dtype, int operand, std::uint32_t columns,
                                         std::uint32_t rows, program::Swizzle swizzle);

/// Bulk tensor copies take it: last stride 1, other strides and the offset multiples of 16 bytes. With
/// `broadcast_batch` the first two dimensions may be broadcast: their map has one element there.
bool bulk_suited(const ir::View& view, ir::DType dtype, bool broadcast_batch = false);

/// Bulk tensor stores may write it: rows are multiples of 16 bytes as well. A store at a tensor's edge writes whole
/// 16-byte pieces, past the last element that the map names (seen on an H200): into whatever lies there.
bool bulk_storable(const ir::View& view, ir::DType dtype);

}  // namespace megakittens::ops
