#include "ops/gemm/cut.hpp"

#include <algorithm>

#include "ops/gemm/arguments.hpp"

namespace megakittens::ops::gemm {
namespace {

/// From the largest to the smallest.
constexpr LoopShape kHopperLoops[] = {{Loop::hopper, kHopperRows, kHopperColumns, 7000, 1024},
                                      {Loop::divided, kDividedRows, kDividedColumns, 5500, 384},
                                      {Loop::narrow, kDividedRows, kNarrowColumns, 5000, 256}};
constexpr LoopShape kBlackwellLoop = {Loop::blackwell, kBlackwellRows, kBlackwellColumns, 0, 0};

/// Two shapes must take less than this part of what the best single one takes: the figures are rounded.
constexpr double kWorthTwoShapes = 0.95;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Tiles of one shape that stand in the list one after the other.
struct Run {
  std::int64_t tiles = 0;
  std::int64_t clocks = 0;  // of one
};

Run run_of(const Space& space, const LoopShape& shape, std::int64_t rows) {
  return {space.outer0 * space.outer1 * divide_up(rows, shape.rows) * divide_up(space.n, shape.columns),
          shape.fixed_clocks + divide_up(space.k, kStageDepth) * shape.chunk_clocks};
}

/// Until the last SM is done: SM i takes tiles i, i + SMs, ... of the list.
std::int64_t clocks_alone(const Run& upper, const Run& lower, std::int64_t sms) {
  const std::int64_t ahead =
      upper.tiles % sms;  // so many SMs have one upper tile more; the first lower ones are not theirs
  const std::int64_t rounds = lower.tiles / sms;
  const std::int64_t left = lower.tiles % sms;
  const std::int64_t others = upper.tiles / sms * upper.clocks + (rounds + (left > 0 ? 1 : 0)) * lower.clocks;
  if (ahead == 0) return others;
  return std::max(others,
                  (upper.tiles / sms + 1) * upper.clocks + (rounds + (left > sms - ahead ? 1 : 0)) * lower.clocks);
}

/// Whether the graph has one product only.
bool alone(const ir::Graph& graph) {
  auto is_product = [](const ir::Node& node) { return node.op == "matmul"; };
  const auto first = std::ranges::find_if(graph.nodes, is_product);
  return std::find_if(std::next(first), graph.nodes.end(), is_product) == graph.nodes.end();
}

const LoopShape& best_among_others(const Space& space, std::int64_t sms) {
  auto clocks = [&](const LoopShape& shape) {  // times the SMs
    const Run run = run_of(space, shape, space.m);
    return std::max(run.tiles, sms) * run.clocks;
  };
  return *std::ranges::min_element(kHopperLoops, {}, clocks);
}

Cut best_alone(const Space& space, const program::Config& config) {
  const std::int64_t sms = config.sms;
  auto whole = [&](const LoopShape& shape) { return clocks_alone(run_of(space, shape, space.m), {}, sms); };
  const LoopShape& one = *std::ranges::min_element(kHopperLoops, {}, whole);
  Cut best{one, space.m, one};
  auto least = static_cast<std::int64_t>(kWorthTwoShapes * static_cast<double>(whole(one)));
  for (const LoopShape* upper = std::begin(kHopperLoops); upper != std::end(kHopperLoops); ++upper)
    for (const LoopShape* lower = upper + 1; lower != std::end(kHopperLoops); ++lower)
      for (std::int64_t rows = upper->rows; rows < space.m; rows += upper->rows) {
        const Run first = run_of(space, *upper, rows);
        if (first.tiles % config.cluster != 0) continue;  // a pair works on tiles of one shape
        const std::int64_t clocks = clocks_alone(first, run_of(space, *lower, space.m - rows), sms);
        if (clocks >= least) continue;
        least = clocks;
        best = {*upper, rows, *lower};
      }
  return best;
}

}  // namespace

Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options) {
  auto whole = [&](const LoopShape& shape) { return Cut{shape, space.m, shape}; };
  if (options.config.architecture == program::Architecture::sm_100a) return whole(kBlackwellLoop);
  if (options.tiling == Tiling::seed) return whole(kHopperLoops[0]);
  if (alone(graph)) return best_alone(space, options.config);
  return whole(best_among_others(space, options.config.sms));
}

}  // namespace megakittens::ops::gemm
