#include <algorithm>

#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

/// What `outer`, a view of a dense tensor that holds `inner`'s elements in row-major order, shows of the storage that
/// `inner` shows; empty where that is no view of ours.
std::optional<ir::View> composed(const ir::View& outer, const ir::View& inner) {
  const ir::Extents steps = ir::contiguous_strides(inner.sizes);
  if (inner.elements() == 0 || outer.elements() == 0) return std::nullopt;
  ir::View result{.offset = inner.offset, .sizes = outer.sizes, .strides = ir::Extents(outer.sizes.size(), 0)};
  ir::Extents start(inner.sizes.size());
  std::int64_t rest = outer.offset;
  for (std::size_t d = 0; d < steps.size(); ++d) {
    start[d] = rest / steps[d];
    rest %= steps[d];
    result.offset += start[d] * inner.strides[d];
  }
  std::vector<bool> used(inner.sizes.size());
  for (std::size_t v = 0; v < outer.sizes.size(); ++v) {
    if (outer.sizes[v] == 1 || outer.strides[v] == 0) continue;
    // The one dimension along which this steps, without leaving it.
    std::size_t d = 0;
    while (d < steps.size() && (used[d] || outer.strides[v] % steps[d] != 0 ||
                                start[d] + (outer.sizes[v] - 1) * (outer.strides[v] / steps[d]) >= inner.sizes[d]))
      ++d;
    if (d == steps.size()) return std::nullopt;
    used[d] = true;
    result.strides[v] = outer.strides[v] / steps[d] * inner.strides[d];
  }
  return result;
}

/// What the copy's only reader would be without it.
std::optional<ir::Node> reader_without(const ir::Graph& graph, const ir::Node& copy, const ir::Node& reader) {
  ir::Node without = reader;
  for (ir::Operand& operand : without.operands) {
    if (operand.value != copy.outputs[0]) continue;
    std::optional<ir::View> view = operand.view == ir::View::whole(graph.value(copy.outputs[0]).tensor)
                                       ? copy.operands[0].view
                                       : composed(operand.view, copy.operands[0].view);
    if (!view) return std::nullopt;
    operand = {copy.operands[0].value, std::move(*view)};
  }
  return without;
}

}  // namespace

ir::Graph fold_copies(const ir::Graph& graph, const Options& options) {
  const Uses uses(graph);
  Nodes nodes = nodes_of(graph);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const ir::Node& copy = *nodes[n];
    if (copy.family != ir::Family::copy) continue;
    const ir::ValueId made = copy.outputs[0];
    if (uses.returned[made] || !uses.is_written_once(graph, made) || uses.readers[made].size() != 1) continue;
    const int at = uses.readers[made][0];
    ir::Node& reader = *nodes[static_cast<std::size_t>(at)];
    if (reader.family == ir::Family::call) continue;  // its type chooses by the layout that it was called with
    if (uses.is_written_between(graph, copy.operands[0].value, static_cast<int>(n), at)) continue;
    const std::optional<ir::Node> without = reader_without(graph, copy, reader);
    if (!without) continue;
    // No slower type: one that reads the source element by element would cost more than the copy.
    const std::string_view before = type_of(graph, reader, options);
    if (before.empty() || type_of(graph, *without, options) != before) continue;
    reader = *without;
  }
  return rebuild_live(graph, std::move(nodes));
}

}  // namespace megakittens::passes
