#include "ops/gemm/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/gemm/arguments.hpp"
#include "ops/gemm/cut.hpp"
#include "ops/gemm/fit.hpp"
#include "ops/gemm/space.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops {

using namespace gemm;

namespace {

enum class LayoutB : std::uint8_t { k_major, n_major };

constexpr int kPages = 7;

/// How B lies, or why bulk copies cannot bring it.
std::variant<LayoutB, std::string> layout_of_b(const Space& space) {
  if (bulk_suited(space.views[1], space.in, true)) return LayoutB::n_major;
  if (bulk_suited(space.views[1].transpose(2, 3), space.in, true)) return LayoutB::k_major;
  return std::string("gemm: B's base or pitch is not a multiple of 16 bytes, or neither K nor N is contiguous");
}

program::TensorMapDescription map_of(const ir::View& view, ir::DType dtype, int operand, int box_columns,
                                     int box_rows) {
  int bytes = ir::size_of(dtype);
  program::TensorMapDescription map;
  map.storage = static_cast<std::uint32_t>(operand);
  map.type = dtype;
  map.rank = 4;
  map.offset = view.offset;
  for (int d = 0; d < 4; ++d) {
    bool single = view.sizes[3 - d] == 1 || view.strides[3 - d] == 0;
    map.sizes[d] = single ? 1 : static_cast<std::uint64_t>(view.sizes[3 - d]);
    map.strides[d] = d == 0 ? bytes : single ? 16 : view.strides[3 - d] * bytes;
    map.box[d] = 1;
  }
  map.box[0] = static_cast<std::uint32_t>(box_columns);
  map.box[1] = static_cast<std::uint32_t>(box_rows);
  map.swizzle = program::Swizzle::b128;
  return map;
}

constexpr int kPageSums = 6;

/// The order in which Hopper's loops let go of their pages (ops/gemm/sm90_pages.cuh): unused ones, then B's page of
/// each of the last fills with A's page behind its second half. The divided loop's last is page 6, which carries sums.
std::vector<int> hopper_order(std::int64_t fills, bool divided) {
  constexpr int kStages = 4;
  constexpr int kFirstPageA = 4;
  std::vector<int> order;
  auto used = [&](int lid) {
    if (lid == kPageSums) return divided;
    return lid < kFirstPageA ? lid < fills : 2 * (lid - kFirstPageA) < fills;
  };
  for (int lid = 0; lid < kPages; ++lid)
    if (!used(lid)) order.push_back(lid);
  for (std::int64_t k = std::max<std::int64_t>(0, fills - kStages); k < fills; ++k) {
    int stage = static_cast<int>(k % kStages);
    order.push_back(stage);
    bool last_of_a = k % 2 == 1 ? k + 3 >= fills : k + 1 >= fills;
    if (last_of_a) order.push_back(kFirstPageA + stage / 2);
  }
  if (divided) order.push_back(kPageSums);
  return order;
}

/// The same of the loops whose stages are pages: unused ones, then each of the last stages' pages. Page 6 is unused, or
/// carries sums at the end.
std::vector<int> together_order(std::int64_t fills, bool divided) {
  constexpr int kStages = 6;
  std::vector<int> order;
  for (int lid = static_cast<int>(std::min<std::int64_t>(fills, kStages)); lid < kStages; ++lid) order.push_back(lid);
  if (!divided) order.push_back(kPageSums);
  for (std::int64_t k = std::max<std::int64_t>(0, fills - kStages); k < fills; ++k)
    order.push_back(static_cast<int>(k % kStages));
  if (divided) order.push_back(kPageSums);
  return order;
}

/// The same of Blackwell's loop (ops/gemm/sm100.cuh): unused ones, then both pages of each of the last chunks.
std::vector<int> blackwell_order(std::int64_t chunks) {
  constexpr int kStages = 3;
  std::vector<int> order;
  for (int lid = static_cast<int>(2 * std::min<std::int64_t>(chunks, kStages)); lid < kPages; ++lid)
    order.push_back(lid);
  for (std::int64_t k = std::max<std::int64_t>(0, chunks - kStages); k < chunks; ++k) {
    int stage = static_cast<int>(k % kStages);
    order.push_back(2 * stage);
    order.push_back(2 * stage + 1);
  }
  return order;
}

bool divides(Loop loop) {
  return loop == Loop::divided || loop == Loop::narrow;
}

std::uint16_t icode_of(Loop loop, ir::DType type, LayoutB layout) {
  // In each group of four: bf16 and f16, each K-major and N-major.
  int group = loop == Loop::medium    ? kIcode_gemm_medium_bf16_kmajor
              : loop == Loop::divided ? kIcode_gemm_divided_bf16_kmajor
              : loop == Loop::narrow  ? kIcode_gemm_narrow_bf16_kmajor
                                      : kIcode_gemm_bf16_kmajor;
  return static_cast<std::uint16_t>(group + (type == ir::DType::f16 ? 2 : 0) + (layout == LayoutB::n_major ? 1 : 0));
}

std::uint64_t release_order(std::int64_t depth, Loop loop) {
  std::int64_t stage = divides(loop) ? kDividedDepth : kStageDepth;
  std::int64_t fills = (depth + stage - 1) / stage;
  const bool together = loop == Loop::medium || loop == Loop::narrow;
  std::vector<int> order = loop == Loop::blackwell ? blackwell_order(fills)
                           : together              ? together_order(fills, divides(loop))
                                                   : hopper_order(fills, divides(loop));
  std::uint64_t packed = 0;
  for (std::size_t q = 0; q < order.size(); ++q) packed |= static_cast<std::uint64_t>(order[q]) << (4 * q);
  return packed;
}

/// The instructions of some rows.
std::unique_ptr<NodePlan> plan_rows(Space space, const LoopShape& shape, Rows rows, const PlanOptions& options) {
  LayoutB layout = std::get<LayoutB>(layout_of_b(space));
  bool paired = shape.loop == Loop::blackwell && options.tiling == Tiling::seed && options.config.cluster == 2;
  space.record.operands[0].map = 0;
  space.record.operands[1].map = 1;
  for (int k = 0; k < 2; ++k) space.record.operands[k].flags |= program::kOperandBulk;
  // Both operands lie in shared memory as rows of 64 elements with the 128-byte swizzle.
  program::TensorMapDescription a = map_of(space.views[0], space.in, 0, kStageDepth, static_cast<int>(shape.rows));
  program::TensorMapDescription b =
      layout == LayoutB::k_major
          ? map_of(space.views[1].transpose(2, 3), space.in, 1, kStageDepth, static_cast<int>(shape.columns))
          : map_of(space.views[1], space.in, 1, 64, divides(shape.loop) ? kDividedDepth : kStageDepth);
  std::uint16_t icode = icode_of(shape.loop, space.in, layout);
  std::uint64_t order = release_order(space.k, shape.loop);
  auto plan = std::make_unique<TilePlan>(
      std::move(space),
      TileShape{.rows = paired ? 2 * shape.rows : shape.rows,
                .columns = shape.columns,
                .paired = paired,
                .order = options.tiling == Tiling::seed || shape.loop == Loop::blackwell ? TileOrder::columns
                                                                                         : TileOrder::rows},
      rows);
  plan->icode = icode;
  plan->release_order = order;
  plan->maps = {a, b};
  return plan;
}

}  // namespace

std::vector<Region> Gemm::regions(const program::NodeRecord& record, const program::Instruction& instruction) const {
  return tile_regions(record, instruction);
}

std::optional<std::string> Gemm::record_fault(const program::Program& program, const program::NodeRecord& record,
                                              std::uint16_t icode) const {
  return gemm::record_fault(program, record, icode);
}

std::optional<std::string> Gemm::instruction_fault(const program::Program& program, const program::NodeRecord& record,
                                                   const program::Instruction& instruction) const {
  return gemm::instruction_fault(program, record, instruction);
}

std::optional<std::string> Gemm::unsuited(const ir::Graph& graph, const ir::Node& node, const PlanOptions&) const {
  auto made = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&made)) return fmt::format("gemm: {}", *problem);
  const Space& space = std::get<Space>(made);
  if (space.in == ir::DType::f32) return "gemm: f32 products are exact, by the general type";
  if (space.k == 0) return "gemm: K is 0";
  if (space.outer0 * space.outer1 * space.m * space.n == 0) return "gemm: there are no elements";
  if (!bulk_suited(space.views[0], space.in, true))
    return "gemm: A's base or pitch is not a multiple of 16 bytes, or its K is not contiguous";
  auto layout = layout_of_b(space);
  if (auto* problem = std::get_if<std::string>(&layout)) return *problem;
  return std::nullopt;
}

std::unique_ptr<NodePlan> Gemm::plan(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) const {
  Space space = std::get<Space>(make_space(graph, node));
  const Cut cut = cut_for(graph, space, options);
  std::unique_ptr<NodePlan> plan = plan_rows(space, cut.upper, {0, cut.rows}, options);
  if (cut.rows < space.m) plan->rest = plan_rows(space, cut.lower, {cut.rows, space.m}, options);
  return plan;
}

}  // namespace megakittens::ops
