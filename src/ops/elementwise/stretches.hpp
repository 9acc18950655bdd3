// A pointwise node's instructions: stretches of its space in row-major order.
#pragma once

#include <array>

#include "ops/elementwise/space.hpp"

namespace megakittens::ops::elementwise {

/// A part of a space in row-major order: elements from `begin` to before `end`.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
/// The boxes, seven at most, that a stretch of a rank-4 space is made of; what lies outside the space is left out.
std::vector<ir::Box> boxes_of(const ir::Extents& sizes, Stretch stretch);

/// What the instructions of a space say alike.
struct Pieces {
  std::vector<Mode> modes;  ///< of each operand
  std::int64_t piece = 0;   ///< elements of a stage; 0 without dense operands
  int depth = 0;            ///< stages of the ring
  int per_page = 1;
  int staging = 0;  ///< pages for gathered operands
  bool narrow = false;
};
/// Without `ring` no operand moves as kDense.
Pieces pieces_of(const Space& space, const program::Config& config, bool ring = true);

/// What every plan of a space says: record, views, cost.
void set_plan(NodePlan& plan, Space space, const Pieces& pieces);
/// All index words of an instruction that is no rectangle and begins at position `first`.
std::vector<std::int32_t> index_words(const program::NodeRecord& record, const Pieces& pieces, Stretch stretch,
                                      const std::array<std::int64_t, program::kMaxTileRank>& first);

class StretchPlan final : public NodePlan {
 public:
  /// `wanted` instructions where the space is large enough.
  StretchPlan(Space space, Pieces pieces, std::int64_t wanted);
  InstructionPlan instruction(std::int64_t i) const override;

 private:
  Stretch stretch(std::int64_t i) const;

  Pieces pieces_;
  Pieces tail_;  ///< of the last few elements, which move one by one
  int inputs_;
  std::int64_t elements_;
  std::int64_t even_;  ///< instructions that share the whole blocks
};

}  // namespace megakittens::ops::elementwise
