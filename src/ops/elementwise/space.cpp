#include "ops/elementwise/space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/arguments.hpp"
#include "support/error.hpp"

namespace megakittens::ops::elementwise {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::optional<std::string> type_problem(const ir::Graph& graph, const ir::Node& node) {
  for (ir::ValueId id : node.outputs)
    if (std::optional<std::string> problem = unsuited_result(graph.value(id).tensor.dtype)) return problem;
  return std::nullopt;
}

}  // namespace

std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node) {
  std::optional<ir::PointwiseBody> body = body_of(node);
  if (!body) return fmt::format("'{}' is no pointwise operation", ir::op_of(node));
  if (auto problem = type_problem(graph, node)) return *problem;
  std::size_t total = node.operands.size() + node.outputs.size();
  if (total > program::kMaxOperands)
    return fmt::format("it has {} operands and results, the limit is {}", total, program::kMaxOperands);
  Space space;
  space.inputs = static_cast<int>(node.operands.size());
  std::vector<ir::View> views;
  for (const ir::Operand& operand : node.operands) {
    views.push_back(operand.view);
    space.types.push_back(graph.value(operand.value).tensor.dtype);
  }
  std::vector<ir::DType> output_types;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    views.push_back(output_view(graph, node, static_cast<int>(k)));
    output_types.push_back(graph.value(node.outputs[k]).tensor.dtype);
    space.types.push_back(output_types.back());
  }
  // Whole rows keep the tiles of a matrix; a narrow last dimension joins the others where it can.
  int rank = views[0].rank();
  int keep = rank >= 2 && views[0].sizes[rank - 1] >= kTileColumns ? 1 : 0;
  std::optional<MergedSpace> merged = merge_dimensions(views, keep);
  if (!merged)
    return fmt::format("its operands need more than {} dimensions even after merging", program::kMaxTileRank);
  auto code = compile_pointwise(*body, 0, space.inputs, output_types);
  if (auto* problem = std::get_if<std::string>(&code)) return *problem;
  for (std::int64_t size : merged->sizes)
    if (size > program::kMaxExtent)
      return fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);

  for (std::size_t k = 0; k < total; ++k)
    if (auto problem = stride_problem(merged->views[k], space.types[k])) return *problem;

  program::NodeRecord& record = space.record;
  record.operand_count = static_cast<std::uint16_t>(total);
  record.output_count = static_cast<std::uint16_t>(node.outputs.size());
  for (std::size_t k = 0; k < total; ++k)
    record.operands[k] = operand_record(merged->views[k], space.types[k], static_cast<int>(k) >= space.inputs);
  for (int d = 0; d < program::kMaxTileRank; ++d) record.extents[d] = static_cast<std::int32_t>(merged->sizes[d]);
  space.single_row = merged->sizes[2] == 1;
  set_code(record, std::get<Code>(code));
  space.views = std::move(merged->views);
  return space;
}

std::int32_t shape_word(const Space& space, int tile_rows) {
  return static_cast<std::int32_t>((space.single_row ? kSingleRow : 0) |
                                   std::uint32_t{space.record.operand_count} << 8 |
                                   static_cast<std::uint32_t>(tile_rows) << 16);
}

RectanglePlan::RectanglePlan(Space space, std::int64_t rows, std::int64_t columns, std::vector<std::int32_t> shape)
    : block_rows_(rows), block_columns_(columns), shape_(std::move(shape)), inputs_(space.inputs) {
  record = space.record;
  views = std::move(space.views);
  const ir::Extents& sizes = views[0].sizes;
  grid_[0] = sizes[0];
  grid_[1] = sizes[1];
  grid_[2] = divide_up(sizes[2], block_rows_);
  grid_[3] = divide_up(sizes[3], block_columns_);
  count = grid_[0] * grid_[1] * grid_[2] * grid_[3];
  for (std::size_t k = 0; k < views.size(); ++k) {
    std::int64_t touched = 1;
    for (int d = 0; d < views[k].rank(); ++d) touched *= views[k].strides[d] == 0 ? 1 : views[k].sizes[d];
    cost.bytes += touched * ir::size_of(space.types[k]);
  }
  cost.operations = ir::element_count(sizes) * record.code_count;
}

InstructionPlan RectanglePlan::instruction(std::int64_t i) const {
  MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
  const ir::Extents& sizes = views[0].sizes;
  std::int64_t column = i % grid_[3] * block_columns_;
  i /= grid_[3];
  std::int64_t row = i % grid_[2] * block_rows_;
  i /= grid_[2];
  std::int64_t outer1 = i % grid_[1];
  std::int64_t outer0 = i / grid_[1];
  std::int64_t rows = std::min(block_rows_, sizes[2] - row);
  std::int64_t columns = std::min(block_columns_, sizes[3] - column);
  InstructionPlan plan;
  for (std::int64_t word : {outer0, outer1, row, column, rows, columns})
    plan.index.push_back(static_cast<std::int32_t>(word));
  plan.index.insert(plan.index.end(), shape_.begin(), shape_.end());
  ir::Box box{.lo = {outer0, outer1, row, column}, .hi = {outer0 + 1, outer1 + 1, row + rows, column + columns}};
  for (int k = 0; k < static_cast<int>(views.size()); ++k)
    (k < inputs_ ? plan.reads : plan.writes).push_back({.operand = k, .box = box});
  return plan;
}

std::vector<Region> rectangle_regions(const program::NodeRecord& record, const program::Instruction& instruction) {
  const std::int32_t* index = instruction.index;
  TileRange range{.lo = {index[kOuter0], index[kOuter1], index[kRow], index[kColumn]},
                  .hi = {index[kOuter0] + 1LL, index[kOuter1] + 1LL, std::int64_t{index[kRow]} + index[kRows],
                         std::int64_t{index[kColumn]} + index[kColumns]}};
  std::vector<Region> regions;
  for (int k = 0; k < record.operand_count; ++k) regions.push_back(tile_region(record, k, range));
  return regions;
}

std::int64_t rows_for_parallelism(const ir::Extents& sizes, std::int64_t columns, std::int64_t most, std::int64_t least,
                                  std::int64_t wanted) {
  std::int64_t rows = most;
  auto blocks = [&] { return sizes[0] * sizes[1] * divide_up(sizes[2], rows) * divide_up(sizes[3], columns); };
  while (rows > least && blocks() < wanted) rows /= 2;
  return rows;
}

}  // namespace megakittens::ops::elementwise
