// The seed's cut of a pointwise node: rectangles of 128 rows and 256 columns instead of stretches.
#pragma once

#include "ops/elementwise/stretches.hpp"

namespace megakittens::ops::elementwise {

inline constexpr std::int64_t kSeedRows = 128, kSeedColumns = 256;

class RectanglePlan final : public NodePlan {
 public:
  /// `space` keeps its last dimension unmerged.
  RectanglePlan(Space space, const program::Config& config);
  InstructionPlan instruction(std::int64_t i) const override;

 private:
  Pieces pieces_;
  int inputs_;
  std::int64_t grid_[4];
};

}  // namespace megakittens::ops::elementwise
