#include "ops/gemm/gemm.hpp"

#include <fmt/format.h>

#include "ops/gemm/cut.hpp"

namespace megakittens::ops {

using namespace gemm;

namespace {

/// An operand as bulk copies see it: its contiguous dimension last.
struct Major {
  ir::View view;
  bool transposed = false;  ///< against the operand
};

/// Empty where bulk copies cannot bring operand k.
std::optional<Major> major_of(const Space& space, int k) {
  const ir::View& view = space.views[static_cast<std::size_t>(k)];
  if (bulk_suited(view, space.in, true)) return Major{view, false};
  if (bulk_suited(view.transpose(2, 3), space.in, true)) return Major{view.transpose(2, 3), true};
  return std::nullopt;
}

program::TensorMapDescription map_of(const Space& space, const Major& major, int k, std::uint32_t lines) {
  return tensor_map(major.view, space.in, k, kBlock, lines, program::Swizzle::b128);
}

/// The instructions of some rows.
std::unique_ptr<NodePlan> plan_rows(Space space, TileName name, Rows rows, const PlanOptions& options) {
  const Tile& tile = tile_of(name);
  const Major a = *major_of(space, 0), b = *major_of(space, 1);
  const bool m_major = a.transposed, n_major = !b.transposed;
  const bool seed = options.tiling == Tiling::seed, blackwell = tile.cores == Cores::tcgen05;
  const bool paired = blackwell && seed && options.config.cluster == 2;
  for (int k = 0; k < 2; ++k) {
    space.record.operands[k].map = static_cast<std::uint16_t>(k);
    space.record.operands[k].flags |= program::kOperandBulk;
  }
  std::vector<program::TensorMapDescription> maps{map_of(space, a, 0, m_major ? tile.depth : tile.rows),
                                                  map_of(space, b, 1, n_major ? tile.depth : tile.columns)};
  const std::uint16_t icode = icode_of(name, space.in == ir::DType::f16, n_major, m_major);
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
  if (!major_of(space, 0))
    return "gemm: A's base or pitch is not a multiple of 16 bytes, or neither M nor K is contiguous";
  if (!major_of(space, 1))
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
