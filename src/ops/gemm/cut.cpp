#include "ops/gemm/cut.hpp"

#include <algorithm>

#include "ops/gemm/arguments.hpp"

namespace megakittens::ops::gemm {
namespace {

/// From the largest to the smallest.
constexpr LoopShape kHopperLoops[] = {{Loop::hopper, kHopperRows, kHopperColumns, 5700, 1024},
                                      {Loop::medium, kHopperRows, kMediumColumns, 4100, 512},
                                      {Loop::divided, kDividedRows, kDividedColumns, 3900, 384},
                                      {Loop::narrow, kDividedRows, kNarrowColumns, 3400, 256}};
constexpr LoopShape kBlackwellLoop = {Loop::blackwell, kBlackwellRows, kBlackwellColumns, 0, 0};

/// An SM's first tile of another shape takes so much longer.
constexpr double kChangeClocks = 4000;
/// Two shapes must take less than this part of what the best single one takes: the figures are rounded.
constexpr double kWorthTwoShapes = 0.97;

/// From a tile's end until one that reads it may begin.
constexpr double kHandOffClocks = 2000;
constexpr int kChainProducts = 3;
/// Of more rounds the last one is a small part, in a chain; a product alone may gain a whole round.
constexpr std::int64_t kManyRounds = 8, kManyRoundsAlone = 64;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Tiles of one shape that stand in the list one after the other. Clocks are doubles: whole numbers as far as any
/// program goes, and no overflow for the products that are refused later.
struct Run {
  std::int64_t tiles = 0;
  double clocks = 0;  // of one
};

Run run_of(const Space& space, const LoopShape& shape, std::int64_t rows) {
  return {space.outer0 * space.outer1 * divide_up(rows, shape.rows) * divide_up(space.n, shape.columns),
          static_cast<double>(shape.fixed_clocks + divide_up(space.k, kStageDepth) * shape.chunk_clocks)};
}

/// Until the last SM is done: SM i takes tiles i, i + SMs, ... of the list.
double clocks_alone(const Run& upper, const Run& lower, std::int64_t sms) {
  // So many SMs have one upper tile more; the first lower ones are not theirs.
  const std::int64_t ahead = upper.tiles % sms;
  auto clocks = [&](std::int64_t uppers, std::int64_t lowers) {
    return static_cast<double>(uppers) * upper.clocks + (lowers > 0 && uppers > 0 ? kChangeClocks : 0) +
           static_cast<double>(lowers) * lower.clocks;
  };
  const std::int64_t rounds = lower.tiles / sms, left = lower.tiles % sms;
  const double others = clocks(upper.tiles / sms, rounds + (left > 0 ? 1 : 0));
  if (ahead == 0) return others;
  return std::max(others, clocks(upper.tiles / sms + 1, rounds + (left > sms - ahead ? 1 : 0)));
}

/// Until three such products are done of which each reads the rows of the one before: by going through their tiles as
/// the SMs do.
double clocks_in_chain(const Space& space, const LoopShape& shape, std::int64_t sms) {
  const Run run = run_of(space, shape, space.m);
  if (run.tiles > kManyRounds * sms)
    return kChainProducts * static_cast<double>(run.tiles) * run.clocks / static_cast<double>(sms);
  const std::int64_t row_tiles = divide_up(space.m, shape.rows), column_tiles = divide_up(space.n, shape.columns);
  const std::int64_t batches = space.outer0 * space.outer1;
  std::vector<std::size_t> band_of;  // a tile's row of tiles, over the whole batch
  for (std::int64_t batch = 0; batch < batches; ++batch)
    for (std::int64_t j = 0; j < row_tiles * column_tiles; ++j) {
      const std::int64_t row = tile_at(TileOrder::rows, j, row_tiles, column_tiles).first;
      band_of.push_back(static_cast<std::size_t>(batch * row_tiles + row));
    }
  std::vector<double> idle(static_cast<std::size_t>(sms));  // from when on each SM is
  std::vector<double> done(static_cast<std::size_t>(batches * row_tiles));
  std::vector<double> before(done.size(), -kHandOffClocks);
  std::size_t sm = 0;
  for (int product = 0; product < kChainProducts; ++product) {
    std::ranges::fill(done, 0.0);
    for (const std::size_t band : band_of) {
      idle[sm] = std::max(idle[sm], before[band] + kHandOffClocks) + run.clocks;
      done[band] = std::max(done[band], idle[sm]);
      sm = sm + 1 == idle.size() ? 0 : sm + 1;
    }
    before = done;
  }
  return *std::ranges::max_element(idle);
}

/// Whether the graph has one product only.
bool alone(const ir::Graph& graph) {
  auto is_product = [](const ir::Node& node) { return node.family == ir::Family::contraction; };
  const auto first = std::ranges::find_if(graph.nodes, is_product);
  return std::find_if(std::next(first), graph.nodes.end(), is_product) == graph.nodes.end();
}

const LoopShape& best_in_chain(const Space& space, std::int64_t sms) {
  auto clocks = [&](const LoopShape& shape) { return clocks_in_chain(space, shape, sms); };
  return *std::ranges::min_element(kHopperLoops, {}, clocks);
}

Cut best_alone(const Space& space, const program::Config& config) {
  const std::int64_t sms = config.sms;
  auto whole = [&](const LoopShape& shape) { return clocks_alone(run_of(space, shape, space.m), {}, sms); };
  const LoopShape& one = *std::ranges::min_element(kHopperLoops, {}, whole);
  Cut best{one, space.m, one};
  if (run_of(space, kHopperLoops[0], space.m).tiles > kManyRoundsAlone * sms) return best;
  double least = kWorthTwoShapes * whole(one);
  for (const LoopShape* upper = std::begin(kHopperLoops); upper != std::end(kHopperLoops); ++upper)
    for (const LoopShape* lower = upper + 1; lower != std::end(kHopperLoops); ++lower)
      for (std::int64_t rows = upper->rows; rows < space.m; rows += upper->rows) {
        const Run first = run_of(space, *upper, rows);
        if (first.tiles % config.cluster != 0) continue;  // a pair works on tiles of one shape
        const double clocks = clocks_alone(first, run_of(space, *lower, space.m - rows), sms);
        if (clocks >= least) continue;
        least = clocks;
        best = {*upper, rows, *lower};
      }
  return best;
}

}  // namespace

Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options) {
  auto whole = [&](const LoopShape& shape) { return Cut{shape, space.m, shape}; };
  if (program::target_of(options.config.architecture).family.tensor_memory) return whole(kBlackwellLoop);
  if (options.tiling == Tiling::seed) return whole(kHopperLoops[0]);
  if (alone(graph)) return best_alone(space, options.config);
  return whole(best_in_chain(space, options.config.sms));
}

}  // namespace megakittens::ops::gemm
