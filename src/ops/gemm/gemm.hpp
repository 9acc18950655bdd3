// Tensor-core products whose operands arrive by bulk tensor copies. A has K contiguous; B has K or N contiguous.
#pragma once

#include "ops/gemm/space.hpp"

namespace megakittens::ops {

class Gemm final : public gemm::Product {
 public:
  std::string_view name() const override { return "gemm"; }
  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const PlanOptions& options) const override;
  std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                 const PlanOptions& options) const override;
};

}  // namespace megakittens::ops
