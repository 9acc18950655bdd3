#include "ops/gemm_general/gemm_general.hpp"

#include <fmt/format.h>

#include "ops/gemm/tile.hpp"

namespace megakittens::ops {

using namespace gemm;

std::optional<std::string> GemmGeneral::unsuited(const ir::Graph& graph, const ir::Node& node,
                                                 const PlanOptions&) const {
  auto made = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&made)) return fmt::format("gemm_general: {}", *problem);
  return std::nullopt;
}

std::unique_ptr<NodePlan> GemmGeneral::plan(const ir::Graph& graph, const ir::Node& node,
                                            const PlanOptions& options) const {
  Space space = std::get<Space>(make_space(graph, node));
  ir::DType in = space.in;
  TileShape shape{.rows = kGeneralRows,
                  .columns = kGeneralColumns,
                  .order = options.tiling == Tiling::seed ? TileOrder::columns : TileOrder::rows};
  const Rows all{0, space.m};
  auto plan = std::make_unique<TilePlan>(std::move(space), shape, all);
  plan->icode = in == ir::DType::f32    ? kIcode_gemm_general_f32
                : in == ir::DType::bf16 ? kIcode_gemm_general_bf16
                                        : kIcode_gemm_general_f16;
  return plan;
}

}  // namespace megakittens::ops
