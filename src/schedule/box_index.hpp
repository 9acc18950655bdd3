// Finds the instructions of one node whose boxes overlap a given box.
#pragma once

#include <array>

#include "schedule/footprint.hpp"

namespace megakittens::schedule {

/// Cuts space at the bounds of all boxes. Where that gives few enough cells, a query uses cells alone and equal
/// cell ranges give equal results; else neighbouring cuts are merged and each candidate is compared.
class BoxIndex {
 public:
  /// Keeps a reference to `boxes`.
  explicit BoxIndex(const Footprint& boxes);

  /// Cells that a box touches, a half-open range a cut dimension.
  struct Range {
    std::array<std::int32_t, 2 * ir::kMaxRank> at{};
    bool operator==(const Range&) const = default;
  };
  /// Empty where nothing can overlap.
  std::optional<Range> locate(const std::int64_t* box) const;
  /// Equal ranges give equal results.
  bool exact() const { return exact_; }

  /// Calls `found(instruction)` for every box that overlaps, in no order, some more than once.
  template <typename Found>
  void visit(const Range& range, const std::int64_t* box, Found&& found) const {
    for_each_cell(range, [&](std::size_t cell) {
      for (std::uint32_t e = cell_first_[cell]; e < cell_first_[cell + 1]; ++e)
        if (exact_ || overlaps(box, boxes_.box(entries_[e].box))) found(entries_[e].instruction);
    });
  }

 private:
  struct Entry {
    std::uint32_t box;
    std::uint32_t instruction;
  };
  struct Axis {
    int dim;
    std::vector<std::int64_t> cuts;  // ascending; cell c is [cuts[c], cuts[c + 1])
    std::int32_t cells() const { return static_cast<std::int32_t>(cuts.size()) - 1; }
  };

  void cut();
  void coarsen();
  std::uint64_t entries_needed() const;
  void fill();
  Range range_of(const std::int64_t* box) const;
  bool overlaps(const std::int64_t* a, const std::int64_t* b) const;

  template <typename Cell>
  void for_each_cell(const Range& range, Cell&& cell) const {
    std::array<std::int32_t, ir::kMaxRank> at{};
    const int axes = static_cast<int>(axes_.size());
    for (int a = 0; a < axes; ++a) at[a] = range.at[2 * a];
    while (true) {
      std::size_t index = 0;
      for (int a = 0; a < axes; ++a) index = index * axes_[a].cells() + at[a];
      cell(index);
      int a = axes - 1;
      for (; a >= 0; --a) {
        if (++at[a] < range.at[2 * a + 1]) break;
        at[a] = range.at[2 * a];
      }
      if (a < 0) return;
    }
  }

  const Footprint& boxes_;
  std::vector<std::int64_t> hull_;
  std::vector<Axis> axes_;  // dimensions with more than one cell
  bool exact_ = true;
  std::vector<std::uint32_t> cell_first_;
  std::vector<Entry> entries_;
};

}  // namespace megakittens::schedule
