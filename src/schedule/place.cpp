#include "schedule/place.hpp"

#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

constexpr std::int64_t kMaxInstructions = std::int64_t{1} << 30;

const ops::InstructionType& resolve(const ir::Graph& graph, const ir::Node& node, const ScheduleOptions& options,
                                    const ops::PlanOptions& plan_options) {
  return options.resolve ? options.resolve(graph, node, plan_options) : ops::type_for(graph, node, plan_options);
}

/// Throws where a plan, or the rest of one, contradicts its node.
void check_plan(const ir::Graph& graph, const ir::Node& node, const ops::NodePlan& plan, std::int64_t cluster) {
  MK_CHECK(plan.count >= 0 && plan.record.operand_count == node.operands.size() + node.outputs.size(),
           "{}: {} instructions, {} operand records for {} operands and {} outputs", graph.describe(node), plan.count,
           plan.record.operand_count, node.operands.size(), node.outputs.size());
  MK_CHECK(!plan.paired || plan.count % 2 == 0, "{}: {} instructions in pairs", graph.describe(node), plan.count);
  if (!plan.rest) return;
  MK_CHECK(plan.rest->views == plan.views && !plan.rest->paired && plan.count % cluster == 0,
           "{}: its instructions from {} on see other operands, or share a pair with the one before",
           graph.describe(node), plan.count);
}

}  // namespace

PlannedInstruction planned(const PlacedNode& node, std::uint32_t instruction) {
  PlannedInstruction found{node.plan.get(), 0, instruction};
  for (; found.number >= found.plan->count; ++found.part) {
    found.number -= found.plan->count;
    found.plan = found.plan->rest.get();
    MK_CHECK(found.plan != nullptr, "instruction {} of {}", instruction, node.count);
  }
  return found;
}

Placement place(const ir::Graph& graph, const ScheduleOptions& options) {
  const ops::PlanOptions plan_options{.config = options.config, .tiling = options.tiling, .tile = options.tile};
  const std::int64_t cluster = options.config.cluster;
  Placement placement;
  std::int64_t next = 0;
  for (const ir::Node& node : graph.nodes) {
    PlacedNode placed;
    placed.plan = resolve(graph, node, options, plan_options).plan(graph, node, plan_options);
    std::int64_t count = 0;
    for (const ops::NodePlan* plan = placed.plan.get(); plan != nullptr; plan = plan->rest.get()) {
      check_plan(graph, node, *plan, cluster);
      count += plan->count;
    }
    if (count > kMaxInstructions - next)
      throw CapacityError(fmt::format("{} would bring the program to {} instructions; {} are possible",
                                      graph.describe(node), next + count, kMaxInstructions));
    placed.first = static_cast<std::uint32_t>(next);
    placed.count = static_cast<std::uint32_t>(count);
    next = (next + count + cluster - 1) / cluster * cluster;
    placement.nodes.push_back(std::move(placed));
  }
  placement.end = static_cast<std::uint32_t>(next);
  return placement;
}

}  // namespace megakittens::schedule
