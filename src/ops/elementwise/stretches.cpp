#include "ops/elementwise/stretches.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ops::elementwise {
namespace {

constexpr int kRank = program::kMaxTileRank;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

std::vector<ir::Box> boxes_of(const ir::Extents& sizes, Stretch stretch) {
  std::vector<ir::Box> boxes;
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size <= 0; })) return boxes;
  stretch.end = std::min(stretch.end, ir::element_count(sizes));
  std::int64_t begin = std::max<std::int64_t>(stretch.begin, 0);
  while (begin < stretch.end) {
    // The largest box that begins here: whole dimensions from the last one on, then a range of the next.
    int d = kRank - 1;
    std::int64_t inner = 1;
    while (d > 0 && begin % (inner * sizes[d]) == 0 && begin + inner * sizes[d] <= stretch.end) inner *= sizes[d--];
    const std::int64_t first = begin / inner % sizes[d];
    const std::int64_t count = std::min(sizes[d] - first, (stretch.end - begin) / inner);
    ir::Box box{.lo = ir::Extents(kRank, 0), .hi = sizes};
    std::int64_t outside = begin / inner / sizes[d];
    for (int o = d - 1; o >= 0; --o) {
      box.lo[o] = outside % sizes[o];
      box.hi[o] = box.lo[o] + 1;
      outside /= sizes[o];
    }
    box.lo[d] = first;
    box.hi[d] = first + count;
    boxes.push_back(std::move(box));
    begin += count * inner;
  }
  return boxes;
}

namespace {

/// Pages for so many bytes an element of gathered inputs.
int staging_pages(int gathered, bool narrow) {
  const int of_page = kStagingBytesOfPage * (narrow ? 2 : 1);
  return (gathered + of_page - 1) / of_page;
}

/// How the last few elements move: one by one.
Pieces tail_of(const Space& space, Pieces pieces) {
  int bytes = 0;
  for (std::size_t k = 0; k < pieces.modes.size(); ++k) {
    if (pieces.modes[k] == kScalar) continue;
    pieces.modes[k] = kByElements;
    if (static_cast<int>(k) < space.inputs) bytes += ir::size_of(space.types[k]);
  }
  pieces.piece = pieces.depth = 0;
  pieces.narrow = pieces.narrow || bytes > kMostInputBytes / 2;
  pieces.staging = staging_pages(bytes, pieces.narrow);
  return pieces;
}

}  // namespace

Pieces pieces_of(const Space& space, const program::Config& config, bool ring) {
  Pieces pieces{.modes = modes_of(space, ring), .narrow = space.narrow};
  int element_bytes = 0, gathered = 0;
  for (int k = 0; k < space.inputs; ++k) {
    if (pieces.modes[k] == kDense) element_bytes += ir::size_of(space.types[k]);
    if (pieces.modes[k] != kDense && pieces.modes[k] != kScalar) gathered += ir::size_of(space.types[k]);
  }
  pieces.staging = staging_pages(gathered, pieces.narrow);
  if (element_bytes == 0) return pieces;
  pieces.piece = 8 * kBlock;
  while (pieces.piece * element_bytes > config.page_bytes) pieces.piece /= 2;
  while (2 * pieces.per_page * pieces.piece * element_bytes <= config.page_bytes) pieces.per_page *= 2;
  constexpr std::int64_t kMostStages = 8;
  pieces.depth = static_cast<int>(
      std::min<std::int64_t>(kMostStages, std::int64_t{pieces.per_page} * (config.pages - pieces.staging)));
  return pieces;
}

std::vector<std::int32_t> index_words(const program::NodeRecord& record, const Pieces& pieces, Stretch stretch,
                                      const std::array<std::int64_t, program::kMaxTileRank>& first) {
  std::uint64_t modes = 0;
  for (std::size_t k = 0; k < pieces.modes.size(); ++k) modes |= std::uint64_t{pieces.modes[k]} << (4 * k);
  const std::int64_t shape = record.operand_count | (pieces.narrow ? kNarrow : 0) | std::int64_t{pieces.staging} << 5 |
                             pieces.piece / kBlock << 8 | std::int64_t{pieces.depth} << 16 |
                             std::int64_t{pieces.per_page} << 24;
  std::vector<std::int32_t> words;
  for (std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{0}, static_cast<std::uint64_t>(stretch.begin),
        static_cast<std::uint64_t>(stretch.begin) >> 32, static_cast<std::uint64_t>(stretch.end - stretch.begin),
        static_cast<std::uint64_t>(first[0]), static_cast<std::uint64_t>(first[1]),
        static_cast<std::uint64_t>(first[2]), static_cast<std::uint64_t>(first[3]), static_cast<std::uint64_t>(shape),
        modes, modes >> 32})
    words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(word)));
  words.resize(kIndexCount);
  return words;
}

void set_plan(NodePlan& plan, Space space, const Pieces& pieces) {
  plan.record = space.record;
  plan.views = std::move(space.views);
  std::int64_t elements = ir::element_count(plan.views[0].sizes);
  for (std::size_t k = 0; k < plan.views.size(); ++k) {
    if (pieces.modes[k] >= kVectorRun) plan.record.operands[k].flags |= program::kOperandBulk;
    std::int64_t touched = 1;
    for (int d = 0; d < plan.views[k].rank(); ++d)
      touched *= plan.views[k].strides[d] == 0 ? 1 : plan.views[k].sizes[d];
    plan.cost.bytes += touched * ir::size_of(space.types[k]);
  }
  plan.cost.operations = elements * plan.record.code_count;
}

StretchPlan::StretchPlan(Space space, Pieces pieces, std::int64_t wanted)
    : pieces_(std::move(pieces)), tail_(tail_of(space, pieces_)), inputs_(space.inputs) {
  set_plan(*this, std::move(space), pieces_);
  elements_ = ir::element_count(views[0].sizes);
  const std::int64_t blocks = divide_up(elements_ / kGrain * kGrain, kBlock);
  even_ = std::min(blocks, std::max(wanted, divide_up(blocks, kMostElements / kBlock)));
  count = even_ + (elements_ % kGrain != 0 ? 1 : 0);
}

Stretch StretchPlan::stretch(std::int64_t i) const {
  const std::int64_t whole = elements_ / kGrain * kGrain;
  if (i == even_) return {whole, elements_};
  const std::int64_t blocks = divide_up(whole, kBlock);
  auto at = [&](std::int64_t n) { return std::min(n * blocks / even_ * kBlock, whole); };
  return {at(i), at(i + 1)};
}

InstructionPlan StretchPlan::instruction(std::int64_t i) const {
  MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
  const Stretch part = stretch(i);
  const ir::Extents& sizes = views[0].sizes;
  std::array<std::int64_t, kRank> first{};
  std::int64_t rest = part.begin;
  for (int d = kRank - 1; d >= 0; --d) {
    first[d] = rest % sizes[d];
    rest /= sizes[d];
  }
  InstructionPlan plan;
  plan.index = index_words(record, i == even_ ? tail_ : pieces_, part, first);
  for (const ir::Box& box : boxes_of(sizes, part))
    for (int k = 0; k < static_cast<int>(views.size()); ++k)
      (k < inputs_ ? plan.reads : plan.writes).push_back({.operand = k, .box = box});
  return plan;
}

}  // namespace megakittens::ops::elementwise
