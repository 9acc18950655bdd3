// Who wrote and who read the elements of a tensor before, version by version.
#pragma once

#include <memory>

#include "schedule/box_index.hpp"

namespace megakittens::schedule {

/// A set of boxes with one rank, from which other boxes can be cut away.
class BoxSet {
 public:
  void assign(const Footprint& boxes, std::uint32_t instruction);
  void subtract(const std::int64_t* box);
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const std::int64_t* box(std::size_t b) const { return bounds_.data() + b * 2 * rank_; }

 private:
  int rank_ = 0;
  std::size_t count_ = 0;  // boxes of rank 0 are one point, and have no bounds
  std::vector<std::int64_t> bounds_;
  std::vector<std::int64_t> next_;
};

/// The places where one node touches a value: its output, or one of its operands.
struct Touch {
  ir::NodeId node = -1;
  int access = 0;  // operands, then outputs
};

/// Indexes of all footprints, made at first use, and the readers of each value.
class Versions {
 public:
  Versions(const ir::Graph& graph, const Placement& placement, const std::vector<NodeTiles>& tiles);

  const std::vector<Touch>& readers(ir::ValueId value) const { return readers_[value]; }
  /// Needs a value that a node produces.
  Touch writer(ir::ValueId value) const;
  const Footprint& boxes(const Touch& touch) const { return tiles_[touch.node].touched[touch.access]; }
  const BoxIndex& index(const Touch& touch);

 private:
  const ir::Graph& graph_;
  const std::vector<NodeTiles>& tiles_;
  std::vector<std::vector<Touch>> readers_;
  std::vector<std::vector<std::unique_ptr<BoxIndex>>> indexes_;
};

}  // namespace megakittens::schedule
