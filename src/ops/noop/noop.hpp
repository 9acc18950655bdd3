// Does nothing but wait and arrive: padding, and joins of more waits than one instruction holds.
#pragma once

#include "ops/instruction_type.hpp"

namespace megakittens::ops {

class Noop final : public InstructionType {
 public:
  std::string_view name() const override { return "noop"; }
  std::vector<Region> regions(const program::NodeRecord& record,
                              const program::Instruction& instruction) const override;
  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const PlanOptions& options) const override;
  std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                 const PlanOptions& options) const override;
};

}  // namespace megakittens::ops
