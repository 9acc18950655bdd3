#include "schedule/versions.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

// Beyond this, pieces are no longer cut: what stays only makes an instruction wait for more than it must.
constexpr std::size_t kMaxPieces = 256;

}  // namespace

void BoxSet::assign(const Footprint& boxes, std::uint32_t instruction) {
  rank_ = boxes.rank();
  count_ = boxes.first(instruction + 1) - boxes.first(instruction);
  bounds_.clear();
  for (std::uint32_t b = boxes.first(instruction); b < boxes.first(instruction + 1); ++b)
    bounds_.insert(bounds_.end(), boxes.box(b), boxes.box(b) + 2 * rank_);
}

void BoxSet::subtract(const std::int64_t* cut) {
  if (size() > kMaxPieces) return;
  std::size_t pieces = 0;
  next_.clear();
  for (std::size_t b = 0; b < size(); ++b) {
    std::vector<std::int64_t> rest(box(b), box(b) + 2 * rank_);
    bool apart = false;
    for (int d = 0; d < rank_; ++d) apart = apart || rest[d] >= cut[rank_ + d] || cut[d] >= rest[rank_ + d];
    if (apart) {
      next_.insert(next_.end(), rest.begin(), rest.end());
      ++pieces;
      continue;
    }
    for (int d = 0; d < rank_; ++d) {
      auto keep = [&](std::int64_t lo, std::int64_t hi) {
        if (lo >= hi) return;
        next_.insert(next_.end(), rest.begin(), rest.end());
        ++pieces;
        next_[next_.size() - 2 * rank_ + d] = lo;
        next_[next_.size() - rank_ + d] = hi;
      };
      keep(rest[d], cut[d]);
      keep(cut[rank_ + d], rest[rank_ + d]);
      rest[d] = std::max(rest[d], cut[d]);
      rest[rank_ + d] = std::min(rest[rank_ + d], cut[rank_ + d]);
    }
  }
  bounds_.swap(next_);
  count_ = pieces;
}

Versions::Versions(const ir::Graph& graph, const Placement& placement, const std::vector<NodeTiles>& tiles)
    : graph_(graph), tiles_(tiles), readers_(graph.values.size()), indexes_(placement.nodes.size()) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const std::vector<ir::Operand>& operands = graph.nodes[n].operands;
    for (std::size_t k = 0; k < operands.size(); ++k)
      readers_[operands[k].value].push_back({static_cast<ir::NodeId>(n), static_cast<int>(k)});
    indexes_[n].resize(tiles[n].touched.size());
  }
}

Touch Versions::writer(ir::ValueId value) const {
  const ir::Value& version = graph_.value(value);
  MK_CHECK(version.producer >= 0, "value {} has no producer", version.name);
  return {version.producer, static_cast<int>(graph_.nodes[version.producer].operands.size()) + version.output_index};
}

const BoxIndex& Versions::index(const Touch& touch) {
  std::unique_ptr<BoxIndex>& index = indexes_[touch.node][touch.access];
  if (!index) index = std::make_unique<BoxIndex>(boxes(touch));
  return *index;
}

}  // namespace megakittens::schedule
