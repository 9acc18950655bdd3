#include "ops/gemm/gemm.hpp"

#include <fmt/format.h>

#include "ops/gemm/cut.hpp"

namespace megakittens::ops {

using namespace gemm;

namespace {

/// Whether N is B's contiguous dimension, or K; empty where bulk copies cannot bring it.
std::optional<bool> is_n_major(const Space& space) {
  if (bulk_suited(space.views[1], space.in, true)) return true;
  if (bulk_suited(space.views[1].transpose(2, 3), space.in, true)) return false;
  return std::nullopt;
}

/// The instructions of some rows.
std::unique_ptr<NodePlan> plan_rows(Space space, TileName name, Rows rows, const PlanOptions& options) {
  const Tile& tile = tile_of(name);
  const bool n_major = *is_n_major(space);
  const bool seed = options.tiling == Tiling::seed, blackwell = tile.cores == Cores::tcgen05;
  const bool paired = blackwell && seed && options.config.cluster == 2;
  for (int k = 0; k < 2; ++k) {
    space.record.operands[k].map = static_cast<std::uint16_t>(k);
    space.record.operands[k].flags |= program::kOperandBulk;
  }
  const ir::View b = n_major ? space.views[1] : space.views[1].transpose(2, 3);
  std::vector<program::TensorMapDescription> maps{
      tensor_map(space.views[0], space.in, 0, kBlock, tile.rows, program::Swizzle::b128),
      tensor_map(b, space.in, 1, kBlock, n_major ? tile.depth : tile.columns, program::Swizzle::b128)};
  const std::uint16_t icode = icode_of(name, space.in == ir::DType::f16, n_major);
  const std::uint64_t order =
      tile.release_order(tile.fills(static_cast<std::uint32_t>(space.k)), !blackwell && !is_short(space.record));
  auto plan = std::make_unique<TilePlan>(std::move(space),
                                         TileShape{.rows = paired ? 2 * tile.rows : tile.rows,
                                                   .columns = tile.columns,
                                                   .paired = paired,
                                                   .order = seed || blackwell ? TileOrder::columns : TileOrder::rows},
                                         rows);
  plan->icode = icode;
  plan->release_order = order;
  plan->maps = std::move(maps);
  return plan;
}

}  // namespace

std::optional<std::string> Gemm::unsuited(const ir::Graph& graph, const ir::Node& node, const PlanOptions&) const {
  auto made = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&made)) return fmt::format("gemm: {}", *problem);
  const Space& space = std::get<Space>(made);
  if (space.in == ir::DType::f32) return "gemm: f32 products are exact, by the general type";
  if (space.k == 0) return "gemm: K is 0";
  if (space.outer0 * space.outer1 * space.m * space.n == 0) return "gemm: there are no elements";
  if (!bulk_suited(space.views[0], space.in, true))
    return "gemm: A's base or pitch is not a multiple of 16 bytes, or its K is not contiguous";
  if (!is_n_major(space))
    return "gemm: B's base or pitch is not a multiple of 16 bytes, or neither K nor N is contiguous";
  return std::nullopt;
}

std::unique_ptr<NodePlan> Gemm::plan(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) const {
  Space space = std::get<Space>(make_space(graph, node));
  const Cut cut = cut_for(graph, space, options);
  std::unique_ptr<NodePlan> plan = plan_rows(space, cut.upper, {0, cut.rows}, options);
  if (cut.rows < space.m) plan->rest = plan_rows(space, cut.lower, {cut.rows, space.m}, options);
  return plan;
}

}  // namespace megakittens::ops
