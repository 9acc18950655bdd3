// The families whose outputs have other elements than their operands: reduce, gather, scatter, scan.
#include <algorithm>
#include <cmath>

#include "ir/reference.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

using Values = std::vector<float>;

/// The position after `at` in row-major order; false behind the last.
bool advance(Extents& at, const Extents& sizes) {
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (++at[d] < sizes[d]) return true;
    at[d] = 0;
  }
  return false;
}

std::size_t offset_of(const Extents& at, const Extents& strides) {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < at.size(); ++d) offset += at[d] * strides[d];
  return static_cast<std::size_t>(offset);
}

/// One reduction under way.
struct Total {
  double value = 0;
  std::int64_t count = 0;
  std::int64_t position = 0;  // of the extremum

  void take(Reduction kind, float x) {
    const bool largest = kind == Reduction::amax || kind == Reduction::argmax;
    switch (kind) {
      case Reduction::sum:
      case Reduction::mean:
        value += x;
        break;
      case Reduction::prod:
        value = count == 0 ? x : value * x;
        break;
      case Reduction::any:
        value = value != 0 || x != 0 ? 1 : 0;
        break;
      case Reduction::all:
        value = (count == 0 || value != 0) && x != 0 ? 1 : 0;
        break;
      default:
        if (count == 0 || (!std::isnan(value) && (std::isnan(x) || (largest ? x > value : x < value)))) {
          value = x;
          position = count;
        }
    }
    ++count;
  }

  float result(Reduction kind) const {
    if (kind == Reduction::argmax || kind == Reduction::argmin) return static_cast<float>(position);
    if (kind == Reduction::mean) return static_cast<float>(value / static_cast<double>(count));
    if (count == 0 && (kind == Reduction::prod || kind == Reduction::all)) return 1;
    return static_cast<float>(value);
  }
};

Values reduce(const Graph& graph, const Node& node, const Reduce& how, const Values& x) {
  const Extents& sizes = node.operands[0].view.sizes;
  Extents kept = sizes;
  for (int d : how.dims) kept[static_cast<std::size_t>(d)] = 1;
  Extents strides = contiguous_strides(kept);
  for (int d : how.dims) strides[static_cast<std::size_t>(d)] = 0;
  std::vector<Total> totals(static_cast<std::size_t>(element_count(kept)));
  if (x.empty() && !totals.empty() && how.kind >= Reduction::amax && how.kind != Reduction::any &&
      how.kind != Reduction::all)
    throw UserError(fmt::format("{}: {} over no elements has no value", graph.describe(node), name_of(how.kind)));
  Extents at(sizes.size(), 0);
  for (float element : x) {
    totals[offset_of(at, strides)].take(how.kind, element);
    advance(at, sizes);
  }
  Values result;
  for (const Total& total : totals) result.push_back(total.result(how.kind));
  return result;
}

/// Where position `at` of the index space, element `i` in row-major order, lies in operand 0.
class Places {
 public:
  Places(const Graph& graph, const Node& node, const std::vector<int>& coordinates, std::size_t first,
         const std::vector<Values>& operands)
      : graph_(graph),
        node_(node),
        coordinates_(coordinates),
        first_(first),
        operands_(operands),
        sizes_(node.operands[0].view.sizes),
        strides_(contiguous_strides(sizes_)) {}

  std::size_t operator()(const Extents& at, std::size_t i) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < coordinates_.size(); ++d) {
      const int c = coordinates_[d];
      const std::int64_t place =
          c >= 0 ? at[static_cast<std::size_t>(c)]
                 : static_cast<std::int64_t>(operands_[first_ + static_cast<std::size_t>(-1 - c)][i]);
      if (place < 0 || place >= sizes_[d])
        throw UserError(fmt::format("{}: index {} is out of range for dimension {} of size {}", graph_.describe(node_),
                                    place, d, sizes_[d]));
      offset += place * strides_[d];
    }
    return static_cast<std::size_t>(offset);
  }

 private:
  const Graph& graph_;
  const Node& node_;
  const std::vector<int>& coordinates_;
  std::size_t first_;
  const std::vector<Values>& operands_;
  const Extents& sizes_;
  Extents strides_;
};

Values gather(const Graph& graph, const Node& node, const Gather& how, const std::vector<Values>& operands) {
  const Value& output = graph.value(node.outputs[0]);
  const Extents& space = output.mutation ? output.mutation->view.sizes : output.tensor.shape;
  const Places place(graph, node, how.coordinates, 1, operands);
  Values result(static_cast<std::size_t>(element_count(space)));
  Extents at(space.size(), 0);
  for (std::size_t i = 0; i < result.size(); ++i, advance(at, space)) result[i] = operands[0][place(at, i)];
  return result;
}

float combined(ScatterKind kind, float old, float x) {
  switch (kind) {
    case ScatterKind::set:
      return x;
    case ScatterKind::add:
      return old + x;
    case ScatterKind::prod:
      return old * x;
    case ScatterKind::amax:
      return apply(PointwiseOp::maximum, old, x);
    case ScatterKind::amin:
      return apply(PointwiseOp::minimum, old, x);
  }
  return x;
}

Values scatter(const Graph& graph, const Node& node, const Scatter& how, const std::vector<Values>& operands) {
  const Extents& space = node.operands[1].view.sizes;
  const Places place(graph, node, how.coordinates, 2, operands);
  Values result = operands[0];
  Extents at(space.size(), 0);
  for (std::size_t i = 0; i < operands[1].size(); ++i, advance(at, space)) {
    float& element = result[place(at, i)];
    element = combined(how.kind, element, operands[1][i]);
  }
  return result;
}

std::vector<Values> scan(const Node& node, const Scan& how, const Values& x) {
  const Extents& sizes = node.operands[0].view.sizes;
  const std::int64_t length = sizes[static_cast<std::size_t>(how.dim)];
  const std::int64_t step = contiguous_strides(sizes)[static_cast<std::size_t>(how.dim)];
  Values result(x.size()), positions(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int64_t position = static_cast<std::int64_t>(i) / step % std::max<std::int64_t>(length, 1);
    const auto before = i - static_cast<std::size_t>(step);
    result[i] = x[i];
    positions[i] = static_cast<float>(position);
    if (position == 0) continue;
    const float old = result[before];
    const bool largest = how.kind == ScanKind::max;
    switch (how.kind) {
      case ScanKind::sum:
        result[i] = old + x[i];
        break;
      case ScanKind::prod:
        result[i] = old * x[i];
        break;
      case ScanKind::logsumexp: {
        const float high = std::max(old, x[i]);
        result[i] = std::isinf(high) ? high : high + std::log(std::exp(old - high) + std::exp(x[i] - high));
        break;
      }
      default:
        if (std::isnan(x[i]) || (largest ? x[i] >= old : x[i] <= old)) break;
        result[i] = old;
        positions[i] = positions[before];
    }
  }
  return {std::move(result), std::move(positions)};
}

}  // namespace

std::vector<Values> evaluate_family(const Graph& graph, const Node& node, const std::vector<Values>& operands) {
  if (const auto* how = std::get_if<Reduce>(&node.details)) return {reduce(graph, node, *how, operands[0])};
  if (const auto* how = std::get_if<Gather>(&node.details)) return {gather(graph, node, *how, operands)};
  if (const auto* how = std::get_if<Scatter>(&node.details)) return {scatter(graph, node, *how, operands)};
  if (const auto* how = std::get_if<Scan>(&node.details)) return scan(node, *how, operands[0]);
  MK_CHECK(false, "{} is no reduce, gather, scatter or scan", graph.describe(node));
  return {};
}

}  // namespace megakittens::ir
