// Products of any strides, alignment and size: operands are brought by ordinary loads. bf16 and f16 on the tensor
// cores, f32 exactly, by fused multiply-adds in the order of K.
#pragma once

#include "ops/gemm/space.hpp"

namespace megakittens::ops {

class GemmGeneral final : public gemm::Product {
 public:
  std::string_view name() const override { return "gemm_general"; }
  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const PlanOptions& options) const override;
  std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                 const PlanOptions& options) const override;
};

}  // namespace megakittens::ops
