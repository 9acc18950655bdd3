#include <algorithm>

#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

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
