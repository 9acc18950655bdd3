#include "ops/common/regions.hpp"

#include <algorithm>

namespace megakittens::ops {

Region tile_region(const program::NodeRecord& record, int k, const TileRange& range) {
  const program::OperandRecord& operand = record.operands[k];
  Region region{.storage = operand.storage,
                .operand = k,
                .write = (operand.flags & program::kOperandOutput) != 0,
                .type = static_cast<program::ElementType>(operand.type),
                .offset = operand.offset};
  for (int d = 0; d < program::kMaxTileRank; ++d) {
    std::int64_t lo = std::min<std::int64_t>(range.lo[d], operand.sizes[d]);
    std::int64_t hi = std::min<std::int64_t>(range.hi[d], operand.sizes[d]);
    region.offset += lo * operand.strides[d];
    region.sizes.push_back(operand.strides[d] == 0 ? std::min<std::int64_t>(hi - lo, 1) : hi - lo);
    region.strides.push_back(operand.strides[d]);
  }
  return region;
}

ir::Box box_of(const TileRange& range) {
  return {.lo = ir::Extents(range.lo.begin(), range.lo.end()), .hi = ir::Extents(range.hi.begin(), range.hi.end())};
}

}  // namespace megakittens::ops
