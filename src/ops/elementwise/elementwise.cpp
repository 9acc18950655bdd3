#include "ops/elementwise/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/common/regions.hpp"
#include "ops/elementwise/fit.hpp"
#include "ops/elementwise/rectangles.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops {

using namespace elementwise;

namespace {

/// Logical pages in the order in which an instruction of so many stages gives them back: those that the ring does not
/// take, then by their last stage.
std::uint64_t release_order(const Pieces& pieces, std::int64_t stages, std::uint32_t pages) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> last;
  for (std::uint32_t lid = 0; lid < pages; ++lid) last.emplace_back(-1, lid);
  if (pieces.depth != 0)
    for (std::int64_t n = 0; n < stages; ++n) last[n % pieces.depth / pieces.per_page].first = n;
  const std::int64_t ring = std::ranges::count_if(last, [](const auto& page) { return page.first >= 0; });
  for (int i = 0; i < pieces.staging; ++i) last[ring + i].first = stages;
  std::ranges::stable_sort(last, {}, &std::pair<std::int64_t, std::uint32_t>::first);
  std::uint64_t order = program::kReleaseInOrder;
  for (std::uint32_t q = 0; q < pages; ++q)
    order = (order & ~(std::uint64_t{15} << (4 * q))) | std::uint64_t{last[q].second} << (4 * q);
  return order;
}

}  // namespace

std::vector<Region> Elementwise::regions(const program::NodeRecord& record,
                                         const program::Instruction& instruction) const {
  const std::int32_t* index = instruction.index;
  const auto begin = static_cast<std::int64_t>(begin_of(index[kBeginLow], index[kBeginHigh]));
  const ir::Extents sizes(record.extents, record.extents + program::kMaxTileRank);
  std::vector<ir::Box> boxes = boxes_of(sizes, {begin, begin + index[kElements]});
  if (const std::int64_t width = index[kWidth]; width > 0) {
    const std::int64_t row = index[kFirstRow], column = index[kFirstColumn];
    boxes = {{.lo = {index[kFirst0], index[kFirst1], row, column},
              .hi = {index[kFirst0] + 1LL, index[kFirst1] + 1LL, row + index[kElements] / width, column + width}}};
  }
  std::vector<Region> regions;
  for (const ir::Box& box : boxes) {
    TileRange range;
    std::ranges::copy(box.lo, range.lo.begin());
    std::ranges::copy(box.hi, range.hi.begin());
    for (int k = 0; k < record.operand_count; ++k) regions.push_back(tile_region(record, k, range));
  }
  return regions;
}

std::optional<std::string> Elementwise::record_fault(const program::Program&, const program::NodeRecord& record,
                                                     std::uint16_t) const {
  return elementwise::record_fault(record);
}

std::optional<std::string> Elementwise::instruction_fault(const program::Program& program,
                                                          const program::NodeRecord& record,
                                                          const program::Instruction& instruction) const {
  return elementwise::instruction_fault(program, record, instruction);
}

std::optional<std::string> Elementwise::unsuited(const ir::Graph& graph, const ir::Node& node,
                                                 const PlanOptions&) const {
  auto space = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&space)) return fmt::format("elementwise: {}", *problem);
  return std::nullopt;
}

std::unique_ptr<NodePlan> Elementwise::plan(const ir::Graph& graph, const ir::Node& node,
                                            const PlanOptions& options) const {
  if (options.tiling == Tiling::seed && node.operands[0].view.rank() >= 2 &&
      node.operands[0].view.sizes.back() >= kSeedColumns / 2) {
    auto kept = make_space(graph, node, 1);
    if (auto* space = std::get_if<Space>(&kept)) {
      auto plan = std::make_unique<RectanglePlan>(std::move(*space), options.config);
      plan->icode = kIcode_elementwise;
      return plan;
    }
  }
  Space space = std::get<Space>(make_space(graph, node));
  const Pieces pieces = pieces_of(space, options.config);
  const std::int64_t elements = ir::element_count(space.views[0].sizes);
  // As many for each SM, of at most kMostElements.
  const std::int64_t round = options.config.sms * std::int64_t{kMostElements};
  const std::int64_t wanted = options.config.sms * std::max<std::int64_t>((elements + round - 1) / round, 1);
  auto plan = std::make_unique<StretchPlan>(std::move(space), pieces, wanted);
  plan->icode = kIcode_elementwise;
  const std::int64_t each = plan->count == 0 ? 0 : (elements + plan->count - 1) / plan->count;
  plan->release_order =
      release_order(pieces, pieces.piece == 0 ? 0 : (each + pieces.piece - 1) / pieces.piece, options.config.pages);
  return plan;
}

}  // namespace megakittens::ops
