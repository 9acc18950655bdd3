// Products of any strides, alignment and size: operands are brought by ordinary loads. bf16 and f16 on the tensor
// cores, f32 exactly, by fused multiply-adds in the order of K.
#pragma once

#include "ops/gemm/duration.hpp"
#include "ops/instruction_type.hpp"

namespace megakittens::ops {

class GemmGeneral final : public InstructionType {
 public:
  std::string_view name() const override { return "gemm_general"; }
  std::vector<Region> regions(const program::NodeRecord& record,
                              const program::Instruction& instruction) const override;
  std::uint64_t most_clocks(const program::NodeRecord& record, const program::Instruction& instruction) const override {
    return gemm::clocks_of(record, instruction.icode);
  }
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
