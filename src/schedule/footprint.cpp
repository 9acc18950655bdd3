#include "schedule/footprint.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "support/error.hpp"

namespace megakittens::schedule {

std::int64_t* Footprint::append() {
  ++boxes_;
  bounds_.resize(bounds_.size() + 2 * static_cast<std::size_t>(rank_));
  return bounds_.data() + bounds_.size() - 2 * rank_;
}

void Footprint::finish_instruction(bool exact) {
  first_.push_back(boxes_);
  exact_.push_back(exact);
}

BoxMapper::BoxMapper(const ir::View& view, const ir::Tensor& base) : view_(view), base_(base) {
  direct_ = find_axes();
}

// The view's dimensions each run along one dimension of the base, and never leave it.
bool BoxMapper::find_axes() {
  std::vector<int> order;
  for (int d = 0; d < base_.rank(); ++d)
    if (base_.shape[d] > 1) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return base_.strides[a] > base_.strides[b]; });
  origin_.assign(base_.rank(), 0);
  std::int64_t rest = view_.offset;
  std::int64_t within = std::numeric_limits<std::int64_t>::max();
  for (int d : order) {
    const std::int64_t stride = base_.strides[d];
    if (stride <= 0 || stride > within / base_.shape[d]) return false;
    within = stride;
    origin_[d] = rest / stride;
    rest -= origin_[d] * stride;
    if (origin_[d] >= base_.shape[d]) return false;
  }
  if (rest != 0) return false;
  axis_.assign(view_.rank(), -1);
  std::vector<bool> taken(base_.rank(), false);
  for (int v = 0; v < view_.rank(); ++v) {
    if (view_.sizes[v] <= 1 || view_.strides[v] == 0) continue;
    auto found = std::find_if(order.begin(), order.end(),
                              [&](int d) { return !taken[d] && base_.strides[d] == view_.strides[v]; });
    if (found == order.end() || origin_[*found] + view_.sizes[v] > base_.shape[*found]) return false;
    taken[*found] = true;
    axis_[v] = *found;
  }
  return true;
}

bool BoxMapper::map(const ir::Box& part, Footprint& out) const {
  MK_CHECK(part.lo.size() == view_.sizes.size() && part.hi.size() == view_.sizes.size(), "box {} on a view of rank {}",
           ir::to_string(part), view_.rank());
  if (!direct_) return map_any(part, out);
  const int view_rank = view_.rank();
  for (int v = 0; v < view_rank; ++v)
    if (part.hi[v] <= part.lo[v]) return true;
  const int rank = base_.rank();
  std::int64_t* bounds = out.append();
  for (int d = 0; d < rank; ++d) {
    bounds[d] = origin_[d];
    bounds[rank + d] = origin_[d] + 1;
  }
  for (int v = 0; v < view_rank; ++v) {
    const int d = axis_[v];
    if (d < 0) continue;
    bounds[d] = origin_[d] + part.lo[v];
    bounds[rank + d] = origin_[d] + part.hi[v];
  }
  return true;
}

bool BoxMapper::map_any(const ir::Box& part, Footprint& out) const {
  std::int64_t touched = 1;
  for (int v = 0; v < view_.rank(); ++v)
    if (view_.strides[v] != 0) touched *= std::max<std::int64_t>(part.hi[v] - part.lo[v], 0);
  std::int64_t covered = 0;
  for (const ir::Box& box : ir::boxes_in_base(view_, part, base_)) {
    std::int64_t* bounds = out.append();
    std::int64_t volume = 1;
    for (int d = 0; d < base_.rank(); ++d) {
      bounds[d] = box.lo[d];
      bounds[base_.rank() + d] = box.hi[d];
      volume *= box.hi[d] - box.lo[d];
    }
    covered += volume;
  }
  return covered == touched;
}

namespace {

/// One operand or output of a node: where its boxes go, if anywhere.
struct Track {
  std::optional<BoxMapper> mapper;
  bool exact = true;
};

std::vector<Track> tracks_of(const ir::Graph& graph, const ir::Node& node, const ops::NodePlan& plan,
                             const std::vector<bool>& written, NodeTiles& tiles) {
  const std::size_t operands = node.operands.size();
  MK_CHECK(plan.views.size() == operands + node.outputs.size(), "{}: {} views for {} operands and {} outputs",
           graph.describe(node), plan.views.size(), operands, node.outputs.size());
  std::vector<Track> tracks;
  for (std::size_t k = 0; k < plan.views.size(); ++k) {
    const ir::ValueId root = graph.root(k < operands ? node.operands[k].value : node.outputs[k - operands]);
    const ir::Tensor& base = graph.value(root).tensor;
    Track& track = tracks.emplace_back();
    if (written[root]) track.mapper.emplace(plan.views[k], base);
    tiles.touched.emplace_back(written[root] ? base.rank() : 0);
  }
  return tracks;
}

}  // namespace

NodeTiles collect_tiles(const ir::Graph& graph, const ir::Node& node, const PlacedNode& placed,
                        const std::vector<bool>& written) {
  NodeTiles tiles;
  std::vector<Track> tracks = tracks_of(graph, node, *placed.plan, written, tiles);
  const std::size_t operands = node.operands.size();
  tiles.index_first.reserve(placed.count + 1);
  for (std::uint32_t i = 0; i < placed.count; ++i) {
    const PlannedInstruction own = planned(placed, i);
    const ops::InstructionPlan plan = own.plan->instruction(own.number);
    if (plan.index.size() > program::kMaxIndices)
      throw CapacityError(fmt::format("{}: an instruction has {} indices; {} are possible", graph.describe(node),
                                      plan.index.size(), program::kMaxIndices));
    tiles.index.insert(tiles.index.end(), plan.index.begin(), plan.index.end());
    tiles.index_first.push_back(static_cast<std::uint32_t>(tiles.index.size()));
    auto take = [&](const ops::Access& access, bool write) {
      const auto k = static_cast<std::size_t>(access.operand);
      MK_CHECK(k < tracks.size() && write == (k >= operands), "{}: instruction {} {} operand {} of {} and {} outputs",
               graph.describe(node), i, write ? "writes" : "reads", k, operands, node.outputs.size());
      if (tracks[k].mapper) tracks[k].exact = tracks[k].mapper->map(access.box, tiles.touched[k]) && tracks[k].exact;
    };
    for (const ops::Access& access : plan.reads) take(access, false);
    for (const ops::Access& access : plan.writes) take(access, true);
    for (std::size_t k = 0; k < tracks.size(); ++k) {
      if (tracks[k].mapper) tiles.touched[k].finish_instruction(tracks[k].exact);
      tracks[k].exact = true;
    }
  }
  return tiles;
}

}  // namespace megakittens::schedule
