#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

/// Every result of the node stands in memory of its own that nothing writes again.
bool has_lasting_results(const ir::Graph& graph, const Uses& uses, const ir::Node& node) {
  for (ir::ValueId id : node.outputs)
    if (!uses.is_written_once(graph, id)) return false;
  return true;
}

bool compute_the_same(const ir::Graph& graph, const ir::Node& a, const ir::Node& b) {
  if (a.family != b.family || a.operands != b.operands || a.details != b.details || a.body != b.body) return false;
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t k = 0; k < a.outputs.size(); ++k)
    if (graph.value(a.outputs[k]).tensor != graph.value(b.outputs[k]).tensor) return false;
  return true;
}

}  // namespace

ir::Graph merge_equal_nodes(const ir::Graph& graph, const Options&) {
  const Uses uses(graph);
  Nodes nodes = nodes_of(graph);
  std::vector<ir::ValueId> same_as(graph.values.size());
  for (std::size_t i = 0; i < same_as.size(); ++i) same_as[i] = static_cast<ir::ValueId>(i);
  // Nodes that read the same value first, or nothing, are the ones that may be equal.
  std::map<ir::ValueId, std::vector<std::size_t>> candidates;
  ir::Graph merged = graph;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    ir::Node& node = *nodes[n];
    for (ir::Operand& operand : node.operands) operand.value = same_as[static_cast<std::size_t>(operand.value)];
    // What a call does is not known; two equal ones may draw two random numbers.
    if (node.family == ir::Family::call || !has_lasting_results(graph, uses, node)) continue;
    std::vector<std::size_t>& others = candidates[node.operands.empty() ? -1 : node.operands[0].value];
    for (const std::size_t other : others) {
      if (!compute_the_same(graph, *nodes[other], node)) continue;
      // Two results that the caller gets stay two tensors.
      bool both_returned = false;
      for (std::size_t k = 0; k < node.outputs.size(); ++k)
        both_returned = both_returned || (uses.returned[node.outputs[k]] && uses.returned[nodes[other]->outputs[k]]);
      if (both_returned) continue;
      for (std::size_t k = 0; k < node.outputs.size(); ++k)
        same_as[static_cast<std::size_t>(node.outputs[k])] = nodes[other]->outputs[k];
      nodes[n].reset();
      break;
    }
    if (nodes[n]) others.push_back(n);
  }
  for (ir::Operand& output : merged.outputs) output.value = same_as[static_cast<std::size_t>(output.value)];
  return rebuild(merged, nodes);
}

}  // namespace megakittens::passes
