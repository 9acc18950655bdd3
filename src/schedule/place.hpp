// Phase 1: which instructions each node becomes, and where they stand in the list.
#pragma once

#include "schedule/schedule.hpp"

namespace megakittens::schedule {

struct PlacedNode {
  std::unique_ptr<ops::NodePlan> plan;
  std::uint32_t first = 0;
  std::uint32_t count = 0;  ///< with those of plan->rest
  std::uint32_t end() const { return first + count; }
};

/// One of a node's instructions: the plan that it belongs to, the how-manyth of the node's plans that is, and the
/// instruction's number in it.
struct PlannedInstruction {
  const ops::NodePlan* plan;
  std::uint32_t part;
  std::int64_t number;
};
PlannedInstruction planned(const PlacedNode& node, std::uint32_t instruction);

/// One entry a node of the graph, in its order. Ranges start at multiples of the cluster size, so that a pair (2k,
/// 2k+1) never spans two nodes; `end` is such a multiple too.
struct Placement {
  std::vector<PlacedNode> nodes;
  std::uint32_t end = 0;
};

/// Topological order, contiguous ranges. Throws as `schedule` does.
Placement place(const ir::Graph& graph, const ScheduleOptions& options);

}  // namespace megakittens::schedule
