// Copies and casts from one order of dimensions to another, through shared memory, so that both sides move in long
// runs.
#pragma once

#include "ops/instruction_type.hpp"

namespace megakittens::ops {

class Permute final : public InstructionType {
 public:
  std::string_view name() const override { return "permute"; }
  std::vector<Region> regions(const program::NodeRecord& record,
                              const program::Instruction& instruction) const override;
  std::optional<std::string> record_fault(const program::Program& program, const program::NodeRecord& record,
                                          std::uint16_t icode) const override;
  std::optional<std::string> instruction_fault(const program::Program& program, const program::NodeRecord& record,
                                               const program::Instruction& instruction) const override;
  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const PlanOptions& options) const override;
  std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                 const PlanOptions& options) const override;
};

}  // namespace megakittens::ops
