#include "ops/gemm/space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/gemm/arguments.hpp"
#include "ops/pointwise/compile.hpp"
#include "support/error.hpp"

namespace megakittens::ops::gemm {
namespace {

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Merges the batch dimensions (all but the last two) of all views to two.
bool merge_batch(std::vector<ir::View>& views) {
  std::vector<ir::View> batch;
  for (const ir::View& view : views) {
    ir::View part = view;
    part.sizes.resize(part.sizes.size() - 2);
    part.strides.resize(part.strides.size() - 2);
    batch.push_back(std::move(part));
  }
  std::optional<MergedSpace> merged = merge_dimensions(batch, 0);
  if (!merged || merged->sizes[0] != 1 || merged->sizes[1] != 1) return false;
  for (std::size_t i = 0; i < views.size(); ++i) {
    ir::View& view = views[i];
    std::size_t rank = view.sizes.size();
    const ir::View& outer = merged->views[i];
    view.sizes = {outer.sizes[2], outer.sizes[3], view.sizes[rank - 2], view.sizes[rank - 1]};
    view.strides = {outer.strides[2], outer.strides[3], view.strides[rank - 2], view.strides[rank - 1]};
    for (int d = 2; d < 4; ++d)
      if (view.sizes[d] == 1) view.strides[d] = d == 3 ? 1 : 0;
  }
  return true;
}

}  // namespace

std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node) {
  if (node.family != ir::Family::contraction) return fmt::format("'{}' is no matrix product", ir::op_of(node));
  if (node.outputs.size() != 1) return std::string("it has more than one result");
  std::size_t total = node.operands.size() + 1;
  if (total > program::kMaxOperands)
    return fmt::format("it has {} operands and results, the limit is {}", total, program::kMaxOperands);
  Space space;
  std::vector<ir::DType> types;
  for (const ir::Operand& operand : node.operands) {
    space.views.push_back(operand.view);
    types.push_back(graph.value(operand.value).tensor.dtype);
  }
  space.in = types[0];
  space.out = graph.value(node.outputs[0]).tensor.dtype;
  types.push_back(space.out);
  space.views.push_back(output_view(graph, node, 0));
  if (types[1] != space.in)
    return fmt::format("its operands are {} and {}; they must agree", ir::name_of(types[0]), ir::name_of(types[1]));
  if (!ir::is_floating(space.in) || !ir::is_floating(space.out))
    return fmt::format("products are computed in bf16, f16 and f32, not from {} to {}", ir::name_of(space.in),
                       ir::name_of(space.out));
  for (const ir::View& view : space.views)
    if (view.rank() < 2 || view.rank() != space.views[0].rank())
      return std::string("its operands differ in rank, or have fewer than two dimensions");
  if (!merge_batch(space.views)) return std::string("its batch dimensions do not merge to two");
  const ir::View& a = space.views[0];
  const ir::View& b = space.views[1];
  space.outer0 = a.sizes[0];
  space.outer1 = a.sizes[1];
  space.m = a.sizes[2];
  space.k = a.sizes[3];
  space.n = b.sizes[3];
  for (std::int64_t size : {space.outer0, space.outer1, space.m, space.k, space.n})
    if (size > program::kMaxExtent)
      return fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);

  for (std::size_t i = 0; i < total; ++i)
    if (auto problem = stride_problem(space.views[i], types[i])) return *problem;

  auto code = compile_pointwise(epilogue_of(node), 0, static_cast<int>(node.operands.size()), {space.out},
                                program::kGemmTemporaries);
  if (auto* problem = std::get_if<std::string>(&code)) return *problem;
  program::NodeRecord& record = space.record;
  record.operand_count = static_cast<std::uint16_t>(total);
  record.output_count = 1;
  for (std::size_t i = 0; i < total; ++i) record.operands[i] = operand_record(space.views[i], types[i], i + 1 == total);
  record.extents[0] = static_cast<std::int32_t>(space.outer0);
  record.extents[1] = static_cast<std::int32_t>(space.outer1);
  record.extents[2] = static_cast<std::int32_t>(space.m);
  record.extents[3] = static_cast<std::int32_t>(space.n);
  record.parameters[kDepth] = static_cast<std::int32_t>(space.k);
  set_code(record, std::get<Code>(code));
  return space;
}

namespace {

bool is_half(std::uint8_t type) {
  return type == static_cast<std::uint8_t>(program::ElementType::bf16) ||
         type == static_cast<std::uint8_t>(program::ElementType::f16);
}

}  // namespace

bool rounds_first(const program::NodeRecord& record) {
  auto rounds = [&](const program::CodeWord& word) {
    switch (static_cast<program::CodeOp>(word.op)) {
      case program::CodeOp::round:
      case program::CodeOp::round_add_round:
      case program::CodeOp::round_add_round_relu:
        return is_half(word.type);
      case program::CodeOp::store:
        return is_half(record.operands[word.third].type);
      default:
        return false;
    }
  };
  const program::CodeWord& word = record.code[0];
  if (static_cast<program::CodeOp>(word.op) == program::CodeOp::add && word.source < program::kSourceTemporary) {
    const program::OperandRecord& row = record.operands[word.source];
    return row.strides[2] == 0 && row.strides[3] == 1 && is_half(row.type) && rounds(record.code[1]);
  }
  return rounds(word);
}

bool is_short(const program::NodeRecord& record) {
  constexpr auto kBf16 = static_cast<std::uint8_t>(program::ElementType::bf16);
  const program::CodeWord& first = record.code[0];
  const auto op = static_cast<program::CodeOp>(first.op);
  const bool adds = op == program::CodeOp::round_add_round || op == program::CodeOp::round_add_round_relu;
  const program::CodeWord& last = record.code[adds ? 1 : 0];
  return record.code_count == (adds ? 2 : 1) && static_cast<program::CodeOp>(last.op) == program::CodeOp::store &&
         record.operands[last.third].type == kBf16 && (!adds || first.type == kBf16);
}

TilePlan::TilePlan(Space space, TileShape shape, Rows rows)
    : space_(std::move(space)),
      shape_(shape),
      rows_(rows),
      row_tiles_(divide_up(rows.end - rows.begin, shape.rows)),
      column_tiles_(divide_up(space_.n, shape.columns)) {
  views = space_.views;
  record = space_.record;
  paired = shape_.paired;
  count = space_.outer0 * space_.outer1 * row_tiles_ * column_tiles_ * (paired ? 2 : 1);
  std::int64_t batch = space_.outer0 * space_.outer1;
  std::int64_t m = rows.end - rows.begin;
  cost.operations = 2 * batch * m * space_.n * space_.k;
  cost.bytes = batch * (m * space_.k + space_.k * space_.n) * ir::size_of(space_.in) +
               batch * m * space_.n * ir::size_of(space_.out);
}

InstructionPlan TilePlan::instruction(std::int64_t i) const {
  MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
  std::int64_t half = paired ? i % 2 : 0;
  std::int64_t tile = paired ? i / 2 : i;
  std::int64_t tiles = row_tiles_ * column_tiles_;
  auto [row_tile, column_tile] = tile_at(shape_.order, tile % tiles, row_tiles_, column_tiles_);
  std::int64_t outer1 = tile / tiles % space_.outer1;
  std::int64_t outer0 = tile / tiles / space_.outer1;
  std::int64_t row = rows_.begin + row_tile * shape_.rows;
  std::int64_t column = column_tile * shape_.columns;
  std::int64_t row_end = std::min(row + shape_.rows, rows_.end);
  std::int64_t column_end = std::min(column + shape_.columns, space_.n);
  std::int64_t own_rows = paired ? shape_.rows / 2 : shape_.rows;
  std::int64_t own_row = row + half * own_rows;
  std::int64_t own_end = std::max(own_row, std::min(own_row + own_rows, rows_.end));
  InstructionPlan plan;
  for (std::int64_t word : {outer0, outer1, own_row, column, own_end - own_row, column_end - column, space_.k})
    plan.index.push_back(static_cast<std::int32_t>(word));
  // A pair's halves both declare the whole tile, as the two CTAs of a pair finish it together.
  auto box = [&](std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1) {
    return ir::Box{.lo = {outer0, outer1, r0, c0}, .hi = {outer0 + 1, outer1 + 1, r1, c1}};
  };
  plan.reads.push_back({.operand = 0, .box = box(row, row_end, 0, space_.k)});
  plan.reads.push_back({.operand = 1, .box = box(0, space_.k, column, column_end)});
  int outputs_at = static_cast<int>(views.size()) - 1;
  for (int k = 2; k < outputs_at; ++k)
    plan.reads.push_back({.operand = k, .box = box(row, row_end, column, column_end)});
  plan.writes.push_back({.operand = outputs_at, .box = box(row, row_end, column, column_end)});
  return plan;
}

std::vector<Region> Product::regions(const program::NodeRecord& record, const program::Instruction& instruction) const {
  const std::int32_t* index = instruction.index;
  std::int64_t row = index[kRow];
  std::int64_t column = index[kColumn];
  std::int64_t depth = record.parameters[kDepth];
  auto range = [&](std::int64_t r0, std::int64_t rows, std::int64_t c0, std::int64_t columns) {
    return TileRange{.lo = {index[kOuter0], index[kOuter1], r0, c0},
                     .hi = {index[kOuter0] + 1LL, index[kOuter1] + 1LL, r0 + rows, c0 + columns}};
  };
  std::vector<Region> regions;
  regions.push_back(tile_region(record, 0, range(row, index[kRows], 0, depth)));
  regions.push_back(tile_region(record, 1, range(0, depth, column, index[kColumns])));
  for (int k = 2; k < record.operand_count; ++k)
    regions.push_back(tile_region(record, k, range(row, index[kRows], column, index[kColumns])));
  return regions;
}

}  // namespace megakittens::ops::gemm
