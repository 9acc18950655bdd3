#include "ops/permute/permute.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <variant>

#include "ops/common/fit.hpp"
#include "ops/common/merge.hpp"
#include "ops/common/regions.hpp"
#include "ops/icodes.hpp"
#include "ops/permute/tile.hpp"
#include "ops/pointwise/compile.hpp"
#include "support/error.hpp"

namespace megakittens::ops {

using namespace permute;

namespace {

constexpr int kRank = program::kMaxTileRank;
/// Aligned rows of so many elements on both sides suit the elementwise types.
constexpr std::int64_t kLongRun = 128;

/// A node made ready: the operand's view and the output's, in the output's order.
struct Ready {
  std::vector<ir::View> views;
  std::array<ir::DType, 2> types{};
  Copy copy;
};

Copy copy_of(const ir::View& input, const ir::View& output, ir::DType from, ir::DType to) {
  Copy copy{.input_bytes = static_cast<std::uint32_t>(ir::size_of(from)),
            .output_bytes = static_cast<std::uint32_t>(ir::size_of(to)),
            .cast = from != to};
  for (int d = 0; d < kRank; ++d) {
    copy.sizes[d] = input.sizes[d];
    copy.input[d] = input.strides[d];
    copy.output[d] = output.strides[d];
  }
  return copy;
}

/// Both views with their dimensions in the order of the output's strides, the largest first.
std::vector<ir::View> in_output_order(const ir::View& input, const ir::View& output) {
  std::vector<std::int64_t> order(output.sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t a, std::int64_t b) { return output.strides[a] > output.strides[b]; });
  return {input.permute(order), output.permute(order)};
}

/// Rows of whole vectors: elementwise types move those as fast. The storage's base is taken as aligned.
bool in_vectors(const ir::View& view, ir::DType dtype) {
  const std::int64_t bytes = ir::size_of(dtype);
  bool aligned = view.strides[3] <= 1 && view.offset * bytes % 16 == 0;
  for (int d = 0; d + 1 < kRank; ++d) aligned = aligned && (view.sizes[d] == 1 || view.strides[d] * bytes % 16 == 0);
  return aligned;
}

/// Why the elementwise types move it as fast, or nothing. Both views are in the output's order.
std::optional<std::string> same_order(const Ready& ready) {
  const ir::View& in = ready.views[0];
  if (in.sizes[3] == 1) return "it is one element";
  if (in.strides[3] == 0) return "its input is broadcast along the result's rows";
  for (int d = 0; d + 1 < kRank; ++d)
    if (in.sizes[d] > 1 && in.strides[d] != 0 && in.strides[d] < in.strides[3]) return std::nullopt;
  for (std::size_t k = 0; k < 2; ++k)
    if (!in_vectors(ready.views[k], ready.types[k])) return std::nullopt;
  if (in.sizes[2] == 1) return "its input and result lie in the same order";
  if (in.sizes[3] >= kLongRun && in.sizes[3] % 8 == 0)
    return "its input and result lie in aligned rows of the same elements";
  return std::nullopt;
}

std::variant<Ready, std::string> make_ready(const ir::Graph& graph, const ir::Node& node) {
  const bool cast = node.family == ir::Family::pointwise && ir::plain_op(node) == ir::PointwiseOp::identity;
  if (node.family != ir::Family::copy && !cast) return fmt::format("'{}' is no copy and no cast", ir::op_of(node));
  Ready ready;
  ready.types = {graph.value(node.operands[0].value).tensor.dtype, graph.value(node.outputs[0]).tensor.dtype};
  if (ready.types[0] != ready.types[1] && unsuited_result(ready.types[1]))
    return fmt::format("nothing is cast to {} here", ir::name_of(ready.types[1]));
  const ir::View output = output_view(graph, node, 0);
  if (ir::element_count(output.sizes) == 0) return "there are no elements";
  auto merged = merge_dimensions(in_output_order(node.operands[0].view, output), 0);
  if (!merged) return fmt::format("its input and result need more than {} dimensions even after merging", kRank);
  ready.views = std::move(merged->views);
  const ir::View& in = ready.views[0];
  for (std::size_t k = 0; k < 2; ++k)
    if (auto problem = stride_problem(ready.views[k], ready.types[k])) return *problem;
  for (std::int64_t size : in.sizes)
    if (size > program::kMaxExtent)
      return fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);
  // Integers that only move are left to nobody else.
  if (!unsuited_result(ready.types[1]))
    if (auto problem = same_order(ready)) return *problem;
  ready.copy = copy_of(ready.views[0], ready.views[1], ready.types[0], ready.types[1]);
  return ready;
}

class PermutePlan final : public NodePlan {
 public:
  PermutePlan(Ready ready, const Tile& tile, std::int64_t sms) : tile_(tile) {
    icode = kIcode_permute;
    views = std::move(ready.views);
    record.operand_count = 2;
    record.output_count = 1;
    count = 1;
    const Sizes tiles = choose_box(ready.copy, tile, sms);
    for (int d = 0; d < kRank; ++d) {
      record.extents[d] = static_cast<std::int32_t>(ready.copy.sizes[d]);
      box_[d] = tiles[d] * tile.extents[d];
      grid_[d] = (ready.copy.sizes[d] + box_[d] - 1) / box_[d];
      count *= grid_[d];
    }
    for (std::size_t k = 0; k < 2; ++k) {
      record.operands[k] = operand_record(views[k], ready.types[k], k == 1);
      std::int64_t touched = 1;
      for (int d = 0; d < kRank; ++d) touched *= views[k].strides[d] == 0 ? 1 : views[k].sizes[d];
      cost.bytes += touched * ir::size_of(ready.types[k]);
    }
    const TileWords words = words_of(ready.copy, tile);
    std::copy(words.parameters.begin(), words.parameters.end(), record.parameters);
    std::copy(words.reserved.begin(), words.reserved.end(), record.reserved);
    cost.operations = ir::element_count(views[0].sizes);
  }

  InstructionPlan instruction(std::int64_t i) const override {
    MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
    TileRange range;
    for (int d = kRank - 1; d >= 0; --d) {
      range.lo[d] = i % grid_[d] * box_[d];
      range.hi[d] = std::min(range.lo[d] + box_[d], views[0].sizes[d]);
      i /= grid_[d];
    }
    InstructionPlan plan;
    Sizes extents{};
    for (int d = 0; d < kRank; ++d) extents[d] = range.hi[d] - range.lo[d];
    for (const Sizes& words : {range.lo, extents, tiles_of(extents, tile_)})
      for (const std::int64_t word : words) plan.index.push_back(static_cast<std::int32_t>(word));
    plan.reads.push_back({.operand = 0, .box = box_of(range)});
    plan.writes.push_back({.operand = 1, .box = box_of(range)});
    return plan;
  }

 private:
  Tile tile_;
  Sizes box_{};
  Sizes grid_{};
};

/// The device lets go of the pages that hold no tile first.
std::uint64_t release_order(std::uint32_t pages) {
  std::uint64_t order = program::kReleaseInOrder;
  for (std::uint32_t q = 0; q < pages; ++q) {
    const std::uint64_t lid = (q + kPages) % pages;
    order = (order & ~(std::uint64_t{15} << (4 * q))) | lid << (4 * q);
  }
  return order;
}

}  // namespace

std::vector<Region> Permute::regions(const program::NodeRecord& record, const program::Instruction& instruction) const {
  TileRange range;
  for (int d = 0; d < kRank; ++d) {
    range.lo[d] = instruction.index[kOrigin + d];
    range.hi[d] = range.lo[d] + instruction.index[kExtent + d];
  }
  return {tile_region(record, 0, range), tile_region(record, 1, range)};
}

std::optional<std::string> Permute::record_fault(const program::Program&, const program::NodeRecord& record,
                                                 std::uint16_t) const {
  if (record.operand_count != 2 || record.output_count != 1)
    return fmt::format("{} operands and {} outputs", record.operand_count, record.output_count);
  if (Fault fault = unmapped_fault(record, 0)) return fault;
  Copy copy{.input_bytes = static_cast<std::uint32_t>(program::size_of(type_of(record.operands[0]))),
            .output_bytes = static_cast<std::uint32_t>(program::size_of(type_of(record.operands[1]))),
            .cast = record.operands[0].type != record.operands[1].type};
  if (copy.cast)
    if (Fault fault = unsuited_result(type_of(record.operands[1]))) return fault;
  for (int k = 0; k < 2; ++k)
    if (Fault fault =
            operand_fault(record, k, {record.extents[0], record.extents[1], record.extents[2], record.extents[3]}))
      return fault;
  Sizes extents{};
  for (int d = 0; d < kRank; ++d) {
    if (record.extents[d] < 1) return fmt::format("{} elements in dimension {}", record.extents[d], d);
    copy.sizes[d] = record.extents[d];
    copy.input[d] = record.operands[0].strides[d];
    copy.output[d] = record.operands[1].strides[d];
    const auto pair = static_cast<std::uint32_t>(record.parameters[d < 2 ? kTileOuter : kTileInner]);
    extents[d] = pair >> (16 * (d % 2)) & 0xffff;
  }
  const std::optional<Tile> tile = tile_with(copy, extents);
  if (!tile) return fmt::format("tiles of {} x {} x {} x {}", extents[0], extents[1], extents[2], extents[3]);
  const TileWords words = words_of(copy, *tile);
  if (!std::equal(words.parameters.begin(), words.parameters.end(), record.parameters) ||
      !std::equal(words.reserved.begin(), words.reserved.end(), record.reserved))
    return "its parameters are not those of its tile";
  return std::nullopt;
}

std::optional<std::string> Permute::instruction_fault(const program::Program&, const program::NodeRecord& record,
                                                      const program::Instruction& instruction) const {
  if (instruction.index_count != kIndexWords)
    return fmt::format("it has {} index words, not {}", instruction.index_count, int{kIndexWords});
  for (int d = 0; d < kRank; ++d) {
    const std::int64_t lo = instruction.index[kOrigin + d], extent = instruction.index[kExtent + d];
    if (lo < 0 || extent < 1 || lo + extent > record.extents[d])
      return fmt::format("elements {} to {} of {} in dimension {}", lo, lo + extent, record.extents[d], d);
    const std::int64_t tile =
        static_cast<std::uint32_t>(record.parameters[d < 2 ? kTileOuter : kTileInner]) >> (16 * (d % 2)) & 0xffff;
    if (const std::int64_t tiles = (extent + tile - 1) / tile; instruction.index[kGrid + d] != tiles)
      return fmt::format("{} tiles in dimension {}, not {}", instruction.index[kGrid + d], d, tiles);
  }
  return std::nullopt;
}

std::optional<std::string> Permute::unsuited(const ir::Graph& graph, const ir::Node& node, const PlanOptions&) const {
  const auto ready = make_ready(graph, node);
  if (auto* problem = std::get_if<std::string>(&ready)) return fmt::format("permute: {}", *problem);
  if (!choose_tile(std::get<Ready>(ready).copy, 1)) return "permute: no part of it fits shared memory";
  return std::nullopt;
}

std::unique_ptr<NodePlan> Permute::plan(const ir::Graph& graph, const ir::Node& node,
                                        const PlanOptions& options) const {
  Ready ready = std::get<Ready>(make_ready(graph, node));
  const Tile tile = *choose_tile(ready.copy, std::int64_t{options.config.sms} * 8);
  auto plan = std::make_unique<PermutePlan>(std::move(ready), tile, options.config.sms);
  plan->release_order = release_order(options.config.pages);
  return plan;
}

}  // namespace megakittens::ops
