#include "ops/gemm/cut.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ops::gemm {
namespace {

/// What there is to choose from, from the largest to the smallest.
std::vector<TileName> choices(Cores cores, bool unrounded) {
  std::vector<TileName> names;
  for (std::size_t i = 0; i < std::size(kTiles); ++i)
    if (kTiles[i].cores == cores && !kTiles[i].on_request && (!unrounded || kTiles[i].takes_unrounded()))
      names.push_back(static_cast<TileName>(i));
  std::ranges::stable_sort(names, std::greater(),
                           [](TileName name) { return tile_of(name).rows * tile_of(name).columns; });
  return names;
}

TileName tile_named(std::string_view text, Cores cores) {
#define MK_GEMM_TILE(name, ...) \
  if (text == #name && tile_of(TileName::name).cores == cores) return TileName::name;
#include "ops/gemm/tiles.def"
  throw OptionError(fmt::format("there is no tile '{}' for this architecture", text));
}

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

Run run_of(const Space& space, TileName name, std::int64_t rows) {
  const Tile& tile = tile_of(name);
  return {space.outer0 * space.outer1 * divide_up(rows, tile.rows) * divide_up(space.n, tile.columns),
          static_cast<double>(tile.fixed_clocks + divide_up(space.k, kBlock) * tile.chunk_clocks)};
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
double clocks_in_chain(const Space& space, TileName name, std::int64_t sms) {
  const Run run = run_of(space, name, space.m);
  if (run.tiles > kManyRounds * sms)
    return kChainProducts * static_cast<double>(run.tiles) * run.clocks / static_cast<double>(sms);
  const std::int64_t row_tiles = divide_up(space.m, tile_of(name).rows),
                     column_tiles = divide_up(space.n, tile_of(name).columns);
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

Cut best_in_chain(const Space& space, const std::vector<TileName>& tiles, std::int64_t sms) {
  auto clocks = [&](TileName name) { return clocks_in_chain(space, name, sms); };
  const TileName best = *std::ranges::min_element(tiles, {}, clocks);
  return {best, space.m, best};
}

Cut best_alone(const Space& space, const std::vector<TileName>& tiles, const program::Config& config) {
  const std::int64_t sms = config.sms;
  auto whole = [&](TileName name) { return clocks_alone(run_of(space, name, space.m), {}, sms); };
  const TileName one = *std::ranges::min_element(tiles, {}, whole);
  Cut best{one, space.m, one};
  if (run_of(space, tiles[0], space.m).tiles > kManyRoundsAlone * sms) return best;
  double least = kWorthTwoShapes * whole(one);
  for (auto upper = tiles.begin(); upper != tiles.end(); ++upper)
    for (auto lower = upper + 1; lower != tiles.end(); ++lower)
      for (std::int64_t rows = tile_of(*upper).rows; rows < space.m; rows += tile_of(*upper).rows) {
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

Cores cores_of(program::Architecture architecture) {
  return program::target_of(architecture).family.tensor_memory ? Cores::tcgen05 : Cores::wgmma;
}

Cut cut_for(const ir::Graph& graph, const Space& space, const PlanOptions& options) {
  const Cores cores = cores_of(options.config.architecture);
  const bool unrounded = !rounds_first(space.record);
  const bool asked =
      !options.tile.empty() && (!unrounded || tile_of(tile_named(options.tile, cores)).takes_unrounded());
  const std::vector<TileName> tiles = asked ? std::vector{tile_named(options.tile, cores)} : choices(cores, unrounded);
  if (tiles.size() == 1 || options.tiling == Tiling::seed) return {tiles[0], space.m, tiles[0]};
  return alone(graph) ? best_alone(space, tiles, options.config) : best_in_chain(space, tiles, options.config.sms);
}

}  // namespace megakittens::ops::gemm
