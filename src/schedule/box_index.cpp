#include "schedule/box_index.hpp"

#include <algorithm>

namespace megakittens::schedule {
namespace {

// Work and memory stay linear in the number of boxes.
constexpr std::uint64_t kCellsPerBox = 8;
constexpr std::uint64_t kEntriesPerBox = 64;
constexpr std::uint64_t kSmall = 256;

}  // namespace

BoxIndex::BoxIndex(const Footprint& boxes) : boxes_(boxes) {
  cut();
  while (true) {
    std::uint64_t cells = 1;
    for (const Axis& axis : axes_) cells *= static_cast<std::uint64_t>(axis.cells());
    const std::uint64_t count = boxes_.boxes();
    if (cells <= kCellsPerBox * count + kSmall && entries_needed() <= kEntriesPerBox * count + kSmall) break;
    coarsen();
  }
  fill();
}

void BoxIndex::cut() {
  const int rank = boxes_.rank();
  const std::uint32_t count = boxes_.boxes();
  hull_.assign(2 * static_cast<std::size_t>(rank), 0);
  for (int d = 0; d < rank; ++d) {
    Axis axis{.dim = d};
    axis.cuts.reserve(2 * count);
    for (std::uint32_t b = 0; b < count; ++b) {
      axis.cuts.push_back(boxes_.box(b)[d]);
      axis.cuts.push_back(boxes_.box(b)[rank + d]);
    }
    std::sort(axis.cuts.begin(), axis.cuts.end());
    axis.cuts.erase(std::unique(axis.cuts.begin(), axis.cuts.end()), axis.cuts.end());
    if (axis.cuts.empty()) continue;
    hull_[d] = axis.cuts.front();
    hull_[rank + d] = axis.cuts.back();
    if (axis.cuts.size() > 2) axes_.push_back(std::move(axis));
  }
}

// Drops every second cut of the axis that has most.
void BoxIndex::coarsen() {
  exact_ = false;
  auto most = std::max_element(axes_.begin(), axes_.end(),
                               [](const Axis& a, const Axis& b) { return a.cuts.size() < b.cuts.size(); });
  std::vector<std::int64_t> kept;
  for (std::size_t c = 0; c < most->cuts.size(); ++c)
    if (c % 2 == 0 || c + 1 == most->cuts.size()) kept.push_back(most->cuts[c]);
  most->cuts = std::move(kept);
  if (most->cuts.size() <= 2) axes_.erase(most);
}

std::uint64_t BoxIndex::entries_needed() const {
  std::uint64_t needed = 0;
  for (std::uint32_t b = 0; b < boxes_.boxes(); ++b) {
    const Range range = range_of(boxes_.box(b));
    std::uint64_t cells = 1;
    for (std::size_t a = 0; a < axes_.size(); ++a) cells *= range.at[2 * a + 1] - range.at[2 * a];
    needed += cells;
  }
  return needed;
}

void BoxIndex::fill() {
  std::size_t cells = 1;
  for (const Axis& axis : axes_) cells *= static_cast<std::size_t>(axis.cells());
  cell_first_.assign(cells + 1, 0);
  auto for_each_entry = [&](auto&& entry) {
    for (std::uint32_t i = 0; i < boxes_.instructions(); ++i)
      for (std::uint32_t b = boxes_.first(i); b < boxes_.first(i + 1); ++b)
        for_each_cell(range_of(boxes_.box(b)), [&](std::size_t cell) { entry(cell, Entry{b, i}); });
  };
  for_each_entry([&](std::size_t cell, const Entry&) { ++cell_first_[cell + 1]; });
  for (std::size_t c = 0; c < cells; ++c) cell_first_[c + 1] += cell_first_[c];
  entries_.resize(cell_first_[cells]);
  std::vector<std::uint32_t> next(cell_first_.begin(), cell_first_.end() - 1);
  for_each_entry([&](std::size_t cell, const Entry& entry) { entries_[next[cell]++] = entry; });
}

BoxIndex::Range BoxIndex::range_of(const std::int64_t* box) const {
  Range range;
  const int rank = boxes_.rank();
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const std::vector<std::int64_t>& cuts = axes_[a].cuts;
    const std::int64_t lo = box[axes_[a].dim];
    const std::int64_t hi = box[rank + axes_[a].dim];
    const auto begin = std::upper_bound(cuts.begin(), cuts.end(), lo) - cuts.begin() - 1;
    const auto end = std::lower_bound(cuts.begin(), cuts.end(), hi) - cuts.begin();
    range.at[2 * a] = std::max<std::int32_t>(static_cast<std::int32_t>(begin), 0);
    range.at[2 * a + 1] = std::min<std::int32_t>(static_cast<std::int32_t>(end), axes_[a].cells());
  }
  return range;
}

std::optional<BoxIndex::Range> BoxIndex::locate(const std::int64_t* box) const {
  if (boxes_.boxes() == 0 || !overlaps(box, hull_.data())) return std::nullopt;
  return range_of(box);
}

bool BoxIndex::overlaps(const std::int64_t* a, const std::int64_t* b) const {
  const int rank = boxes_.rank();
  for (int d = 0; d < rank; ++d)
    if (a[d] >= b[rank + d] || b[d] >= a[rank + d]) return false;
  return true;
}

}  // namespace megakittens::schedule
