// What every instruction of a node touches, as flat lists of boxes in the coordinates of the tensors that hold the
// data.
#pragma once

#include <span>

#include "schedule/place.hpp"

namespace megakittens::schedule {

/// Boxes of one operand or output for all instructions of a node. A box is `rank` lower bounds, then `rank` upper ones.
class Footprint {
 public:
  explicit Footprint(int rank = 0) : rank_(rank) {}

  int rank() const { return rank_; }
  std::uint32_t instructions() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::uint32_t boxes() const { return boxes_; }
  /// Boxes of instruction i are [first(i), first(i + 1)).
  std::uint32_t first(std::uint32_t i) const { return first_[i]; }
  const std::int64_t* box(std::size_t b) const { return bounds_.data() + b * 2 * rank_; }
  /// Whether the boxes of instruction i hold nothing but what it touches (a hull may hold more).
  bool exact(std::uint32_t i) const { return exact_[i]; }

  /// Room for 2 * rank bounds of a new box of the instruction that is being filled.
  std::int64_t* append();
  /// Ends the instruction that is being filled; the next one begins.
  void finish_instruction(bool exact);

 private:
  int rank_;
  std::vector<std::int64_t> bounds_;
  std::vector<std::uint32_t> first_{0};
  std::vector<bool> exact_;
  std::uint32_t boxes_ = 0;
};

/// Maps boxes of a view into coordinates of the tensor that the view shows. Views made of slices, selects and
/// permutations cost a few additions a box; others go through ir::boxes_in_base.
class BoxMapper {
 public:
  BoxMapper(const ir::View& view, const ir::Tensor& base);

  /// Appends to `out`; returns whether the result is exact.
  bool map(const ir::Box& part, Footprint& out) const;

 private:
  bool find_axes();
  bool map_any(const ir::Box& part, Footprint& out) const;

  ir::View view_;
  ir::Tensor base_;
  bool direct_ = false;
  std::vector<std::int64_t> origin_;  // a base dimension's coordinate where the view begins
  std::vector<int> axis_;             // a view dimension's base dimension, or -1
};

/// A node's instructions: index words and footprints. Operands that nothing in the graph writes have no footprint.
struct NodeTiles {
  std::vector<std::int32_t> index;
  std::vector<std::uint32_t> index_first{0};
  /// Operands in order, then outputs; rank 0 and no instructions where left out.
  std::vector<Footprint> touched;
};

/// Calls the node's plan once for every instruction. `written`: by root value, whether some node writes it.
NodeTiles collect_tiles(const ir::Graph& graph, const ir::Node& node, const PlacedNode& placed,
                        const std::vector<bool>& written);

}  // namespace megakittens::schedule
