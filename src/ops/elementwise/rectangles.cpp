#include "ops/elementwise/rectangles.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ops::elementwise {

RectanglePlan::RectanglePlan(Space space, const program::Config& config)
    : pieces_(pieces_of(space, config, false)), inputs_(space.inputs) {
  set_plan(*this, std::move(space), pieces_);
  const ir::Extents& sizes = views[0].sizes;
  grid_[0] = sizes[0];
  grid_[1] = sizes[1];
  grid_[2] = (sizes[2] + kSeedRows - 1) / kSeedRows;
  grid_[3] = (sizes[3] + kSeedColumns - 1) / kSeedColumns;
  count = grid_[0] * grid_[1] * grid_[2] * grid_[3];
}

InstructionPlan RectanglePlan::instruction(std::int64_t i) const {
  MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
  const ir::Extents& sizes = views[0].sizes;
  const std::int64_t column = i % grid_[3] * kSeedColumns;
  i /= grid_[3];
  const std::int64_t row = i % grid_[2] * kSeedRows;
  i /= grid_[2];
  const std::int64_t outer1 = i % grid_[1], outer0 = i / grid_[1];
  const std::int64_t rows = std::min(kSeedRows, sizes[2] - row), columns = std::min(kSeedColumns, sizes[3] - column);
  const std::int64_t begin = ((outer0 * sizes[1] + outer1) * sizes[2] + row) * sizes[3] + column;
  // Rows that are no whole runs, or too few elements for one of every type, move one by one.
  Pieces pieces = pieces_;
  if (columns % 8 != 0 || rows * columns % kGrain != 0)
    for (Mode& mode : pieces.modes)
      if (mode != kScalar) mode = kByElements;
  InstructionPlan plan;
  plan.index = index_words(record, pieces, {begin, begin + rows * columns}, {outer0, outer1, row, column});
  const Division by = Division::by(static_cast<std::uint32_t>(columns));
  plan.index[kWidth] = static_cast<std::int32_t>(columns);
  plan.index[kWidthMagic] = static_cast<std::int32_t>(by.magic);
  plan.index[kWidthShift] = static_cast<std::int32_t>(by.shift);
  const ir::Box box{.lo = {outer0, outer1, row, column}, .hi = {outer0 + 1, outer1 + 1, row + rows, column + columns}};
  for (int k = 0; k < static_cast<int>(views.size()); ++k)
    (k < inputs_ ? plan.reads : plan.writes).push_back({.operand = k, .box = box});
  return plan;
}

}  // namespace megakittens::ops::elementwise
