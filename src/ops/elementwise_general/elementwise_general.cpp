#include "ops/elementwise_general/elementwise_general.hpp"

#include <fmt/format.h>

#include "ops/elementwise/arguments.hpp"
#include "ops/elementwise/fit.hpp"
#include "ops/elementwise/space.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops {

using namespace elementwise;

std::vector<Region> ElementwiseGeneral::regions(const program::NodeRecord& record,
                                                const program::Instruction& instruction) const {
  return rectangle_regions(record, instruction);
}

std::optional<std::string> ElementwiseGeneral::record_fault(const program::Program& program,
                                                            const program::NodeRecord& record, std::uint16_t) const {
  return elementwise::record_fault(program, record, false);
}

std::optional<std::string> ElementwiseGeneral::instruction_fault(const program::Program& program,
                                                                 const program::NodeRecord& record,
                                                                 const program::Instruction& instruction) const {
  return elementwise::instruction_fault(program, record, instruction, false);
}

std::optional<std::string> ElementwiseGeneral::unsuited(const ir::Graph& graph, const ir::Node& node,
                                                        const PlanOptions&) const {
  auto space = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&space)) return fmt::format("elementwise: {}", *problem);
  return std::nullopt;
}

std::unique_ptr<NodePlan> ElementwiseGeneral::plan(const ir::Graph& graph, const ir::Node& node,
                                                   const PlanOptions& options) const {
  Space space = std::get<Space>(make_space(graph, node));
  bool single_row = space.single_row;
  std::int64_t columns = single_row ? 16 * kLongRow : 2 * kTileColumns;
  const ir::Extents& sizes = space.views[0].sizes;
  if (single_row)
    while (columns > kLongRow && sizes[0] * sizes[1] * sizes[3] / columns < options.config.sms) columns /= 2;
  std::int64_t rows = single_row ? 1 : rows_for_parallelism(sizes, columns, kMostTileRows, 8, options.config.sms);
  std::vector<std::int32_t> shape{shape_word(space, 0)};
  auto plan = std::make_unique<RectanglePlan>(std::move(space), rows, columns, shape);
  plan->icode = kIcode_elementwise_general;
  return plan;
}

}  // namespace megakittens::ops
