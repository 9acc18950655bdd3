#include "ops/permute/tile.hpp"

#include <algorithm>
#include <vector>

namespace megakittens::ops::permute {
namespace {

constexpr int kRank = program::kMaxTileRank;
/// What a run costs beside its bytes: a part of a line at either end, and the lanes that find its place.
constexpr std::int64_t kRunCost = 32;
/// What a tile costs beside its runs.
constexpr std::int64_t kTileCost = 256;
constexpr std::int64_t kWarps = 8;
/// Device code counts a tile's bytes in 32 bits.
constexpr std::int64_t kTileSpan = INT32_MAX;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
std::int64_t round_up(std::int64_t a, std::int64_t b) {
  return divide_up(a, b) * b;
}

int dim_of(const Side& side, int place) {
  return static_cast<int>(side.order >> (4 * place) & 15);
}

/// Dimensions by stride, the smallest first; those of one element and broadcast ones last.
std::uint32_t order_of(const Sizes& sizes, const Sizes& strides) {
  std::array<int, kRank> dims{3, 2, 1, 0};
  auto key = [&](int d) { return sizes[d] == 1 || strides[d] == 0 ? INT64_MAX : strides[d]; };
  std::stable_sort(dims.begin(), dims.end(), [&](int a, int b) { return key(a) < key(b); });
  std::uint32_t order = 0;
  for (int place = 0; place < kRank; ++place) order |= static_cast<std::uint32_t>(dims[place]) << (4 * place);
  return order;
}

/// Runs and rows of one side; `first` is the dimension that rows should count by first. Empty where there are more
/// than two row dimensions.
std::optional<Side> side_for(const Copy& copy, const Sizes& strides, const Sizes& tile, int first) {
  Side side{.order = order_of(copy.sizes, strides), .run = 1, .x = kNone, .y = kNone};
  while (side.run < 3) {
    const int inner = dim_of(side, static_cast<int>(side.run) - 1), outer = dim_of(side, static_cast<int>(side.run));
    const bool whole = tile[inner] == copy.sizes[inner];
    if (!whole || copy.sizes[outer] == 1 || strides[outer] != strides[inner] * copy.sizes[inner]) break;
    ++side.run;
  }
  std::vector<int> rows;
  for (int place = static_cast<int>(side.run); place < kRank; ++place)
    if (const int d = dim_of(side, place); tile[d] > 1) rows.push_back(d);
  if (rows.size() > 2) return std::nullopt;
  std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return (a == first) > (b == first); });
  if (!rows.empty()) side.x = static_cast<std::uint32_t>(rows[0]);
  if (rows.size() > 1) side.y = static_cast<std::uint32_t>(rows[1]);
  return side;
}

std::int64_t run_of(const Side& side, const Sizes& tile) {
  std::int64_t run = 1;
  for (int place = 0; place < static_cast<int>(side.run); ++place) run *= tile[dim_of(side, place)];
  return run;
}

/// Elements of which an input's run holds a whole number.
std::int64_t run_unit(const Copy& copy) {
  const std::int64_t vector = vector_elements(copy.input_bytes);
  return copy.cast ? std::max<std::int64_t>(vector, 8) : vector;
}

/// Elements from a tile's first to its last.
std::int64_t span_of(const Sizes& strides, const Sizes& tile) {
  std::int64_t span = 0;
  for (int d = 0; d < kRank; ++d) span += (tile[d] - 1) * strides[d];
  return span;
}

std::uint32_t log2_below(std::int64_t x) {
  std::uint32_t log = 0;
  while (x >> (log + 1) > 0) ++log;
  return log;
}

/// How the output's runs are read from shared memory.
Gather gather_for(const Copy& copy, const Tile& tile) {
  const int fastest = dim_of(tile.input, 0), last = dim_of(tile.output, 0);
  Gather gather{.unit = log2_below(copy.output_bytes), .linear = true, .wide = false, .pad = 31, .stride = 0};
  std::int64_t unit = copy.output_bytes;
  // Where both sides have the same fastest dimension, several of its elements move as one.
  if (fastest == last && copy.output[last] == 1 && tile.extents[last] == copy.sizes[last])
    while (unit < 16 && tile.extents[last] * copy.output_bytes % (2 * unit) == 0) unit *= 2;
  gather.unit = log2_below(unit);
  int walked = last;  // the only dimension of a linear run
  int dims = 0;
  for (int place = 0; place < static_cast<int>(tile.output.run); ++place) {
    const int d = dim_of(tile.output, place);
    if (d == last ? tile.extents[d] * copy.output_bytes == unit : tile.extents[d] == 1) continue;
    walked = d;
    ++dims;
  }
  gather.linear = dims <= 1;
  const std::int64_t stride = walked == last ? tile.strides[last] * unit / copy.output_bytes : tile.strides[walked];
  if (gather.linear) gather.stride = static_cast<std::uint32_t>(stride);
  const std::int64_t rows = tile.output.x == kNone ? 1 : tile.extents[tile.output.x];
  const bool neighbours = static_cast<int>(tile.output.x) == fastest;
  gather.wide = gather.linear && (unit >= 4 || (unit == 2 && neighbours && rows % 2 == 0));
  // Lanes that gather neighbouring vectors of a run read from different banks.
  const std::int64_t step = gather.linear ? 16 / unit * stride : tile.strides[dim_of(tile.output, 1)];
  if (step >= 128) gather.pad = log2_below(step);
  return gather;
}

/// Bytes moved by all tiles, with what runs and tiles cost beside them.
std::int64_t cost_of(const Copy& copy, const Tile& tile) {
  std::int64_t elements = 1, tiles = 1;
  for (int d = 0; d < kRank; ++d) {
    elements *= tile.extents[d];
    tiles *= divide_up(copy.sizes[d], tile.extents[d]);
  }
  auto side_cost = [&](const Side& side, std::int64_t bytes) {
    const std::int64_t run = run_of(side, tile.extents);
    return elements / run * (run * bytes + kRunCost);
  };
  std::int64_t out = side_cost(tile.output, copy.output_bytes);
  if (!tile.gather.wide) out += out / 4;
  return tiles * (side_cost(tile.input, copy.input_bytes) + out + kTileCost);
}

/// Extents that a tile may have in a dimension: the whole of it, or about a power of two that cuts it evenly.
std::vector<std::int64_t> candidates(std::int64_t size, std::int64_t vector, std::int64_t most) {
  std::vector<std::int64_t> list{1};
  for (std::int64_t power = 2; power < size && power <= most; power *= 2)
    list.push_back(power < vector ? power : round_up(divide_up(size, divide_up(size, power)), vector));
  for (std::int64_t whole : {size, round_up(size, vector)})
    if (whole <= most) list.push_back(whole);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::optional<Tile> best_tile(const Copy& copy, std::int64_t most_elements) {
  const std::int64_t vector = std::max(run_unit(copy), std::int64_t{16 / copy.output_bytes});
  std::array<std::vector<std::int64_t>, kRank> lists;
  for (int d = 0; d < kRank; ++d) lists[d] = candidates(copy.sizes[d], vector, most_elements);
  std::optional<Tile> best;
  std::int64_t least = INT64_MAX;
  Sizes extents{};
  auto go = [&](auto& self, int d, std::int64_t elements) -> void {
    if (d == kRank) {
      const std::optional<Tile> tile = tile_with(copy, extents);
      if (!tile) return;
      if (const std::int64_t cost = cost_of(copy, *tile); cost < least) {
        least = cost;
        best = tile;
      }
      return;
    }
    for (std::int64_t extent : lists[d]) {
      if (elements * extent > most_elements) break;
      extents[d] = extent;
      self(self, d + 1, elements * extent);
    }
  };
  go(go, 0, 1);
  return best;
}

std::int64_t tile_count(const Copy& copy, const Tile& tile) {
  std::int64_t count = 1;
  for (int d = 0; d < kRank; ++d) count *= divide_up(copy.sizes[d], tile.extents[d]);
  return count;
}

}  // namespace

std::optional<Tile> tile_with(const Copy& copy, const Sizes& extents) {
  Tile tile{.extents = extents};
  std::int64_t elements = 1;
  for (std::int64_t extent : extents) {
    if (extent < 1 || extent > kTileBytes) return std::nullopt;
    elements *= extent;
    if (elements * std::max(copy.input_bytes, copy.output_bytes) > tile_bytes(copy.cast)) return std::nullopt;
  }
  if (span_of(copy.input, extents) * copy.input_bytes > kTileSpan) return std::nullopt;
  if (span_of(copy.output, extents) * copy.output_bytes > kTileSpan) return std::nullopt;
  const std::optional<Side> input = side_for(copy, copy.input, extents, -1);
  if (!input) return std::nullopt;
  const std::optional<Side> output = side_for(copy, copy.output, extents, dim_of(*input, 0));
  if (!output) return std::nullopt;
  tile.input = *input;
  tile.output = *output;
  if (run_of(tile.input, extents) % run_unit(copy) != 0) return std::nullopt;
  // The order in shared memory is that in which a tile's vectors are counted: the run, then x, then y.
  std::int64_t bytes = copy.output_bytes;
  for (int place = 0; place < kRank; ++place) {
    const int d = dim_of(tile.input, place);
    tile.strides[d] = bytes;
    bytes *= extents[d];
  }
  tile.gather = gather_for(copy, tile);
  return tile;
}

std::optional<Tile> choose_tile(const Copy& copy, std::int64_t warps) {
  const std::int64_t largest = std::max(copy.input_bytes, copy.output_bytes);
  std::optional<Tile> tile;
  for (std::int64_t bytes = tile_bytes(copy.cast); bytes >= 1024; bytes /= 2) {
    const std::optional<Tile> smaller = best_tile(copy, bytes / largest);
    if (!smaller) break;
    tile = smaller;
    if (tile_count(copy, *tile) >= warps) break;
  }
  return tile;
}

Sizes choose_box(const Copy& copy, const Tile& tile, std::int64_t sms) {
  // Longer instructions cost fewer starts, in which nothing is in flight; shorter ones end together.
  constexpr std::int64_t kMost = 64, kStart = 1;
  Sizes grid{}, best{};
  for (int d = 0; d < kRank; ++d) grid[d] = divide_up(copy.sizes[d], tile.extents[d]);
  std::int64_t least = INT64_MAX;
  for (std::int64_t most = 1; most <= kMost; ++most) {
    Sizes box{};
    std::int64_t tiles = 1, count = 1;
    for (int place = 0; place < kRank; ++place) {
      const int d = dim_of(tile.input, place);
      box[d] = std::min(grid[d], std::max<std::int64_t>(most / tiles, 1));
      box[d] = divide_up(grid[d], divide_up(grid[d], box[d]));
      tiles *= box[d];
      count *= divide_up(grid[d], box[d]);
    }
    const std::int64_t time = divide_up(count, sms) * (divide_up(tiles, kWarps) + kStart);
    if (time < least) {
      least = time;
      best = box;
    }
  }
  return best;
}

Sizes tiles_of(const Sizes& box, const Tile& tile) {
  Sizes tiles{};
  for (int d = 0; d < kRank; ++d) tiles[d] = divide_up(box[d], tile.extents[d]);
  return tiles;
}

TileWords words_of(const Copy& copy, const Tile& tile) {
  auto pair = [](std::int64_t low, std::int64_t high) {
    return static_cast<std::uint32_t>(low) | static_cast<std::uint32_t>(high) << 16;
  };
  auto by = [](std::int64_t divisor) { return reciprocal_of(static_cast<std::uint32_t>(divisor)); };
  auto extent = [&](std::uint32_t d) { return d == kNone ? 1 : tile.extents[d]; };
  TileWords words;
  auto set = [&](int parameter, std::uint32_t word) { words.parameters[parameter] = static_cast<std::int32_t>(word); };
  set(kTileOuter, pair(tile.extents[0], tile.extents[1]));
  set(kTileInner, pair(tile.extents[2], tile.extents[3]));
  set(kStridesOuter, pair(tile.strides[0], tile.strides[1]));
  set(kStridesInner, pair(tile.strides[2], tile.strides[3]));
  set(kInputSide, side_word(tile.input));
  set(kOutputSide, side_word(tile.output));
  set(kGather, gather_word(tile.gather));
  const std::int64_t input = run_of(tile.input, tile.extents), output = run_of(tile.output, tile.extents);
  auto last_of = [&](const Side& side) { return tile.extents[dim_of(side, static_cast<int>(side.run) - 1)]; };
  words.reserved[kInputRuns] = pair(input, input / last_of(tile.input));
  words.reserved[kInputRows] = pair(extent(tile.input.x), extent(tile.input.y));
  words.reserved[kOutputRuns] = pair(output, output / last_of(tile.output));
  words.reserved[kOutputRows] = pair(extent(tile.output.x), extent(tile.output.y));
  words.reserved[kByInputRun] = by(input);
  words.reserved[kByInputVectors] = by(input / vector_elements(copy.input_bytes));
  words.reserved[kByInputX] = by(extent(tile.input.x));
  words.reserved[kByOutputRun] = by(output);
  words.reserved[kByOutputVectors] = by(divide_up(output * copy.output_bytes, 16));
  words.reserved[kByOutputX] = by(extent(tile.output.x));
  words.reserved[kByOutputBlocks] = by(extent(tile.output.x) / rows_of_word(tile.gather));
  words.reserved[kByLast] = by(tile.extents[3]);
  words.reserved[kByBefore] = by(tile.extents[2]);
  return words;
}

}  // namespace megakittens::ops::permute
