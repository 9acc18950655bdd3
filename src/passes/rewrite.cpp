#include "passes/rewrite.hpp"

#include <algorithm>

#include "ops/user/registry.hpp"
#include "support/error.hpp"

namespace megakittens::passes {

Uses::Uses(const ir::Graph& graph)
    : readers(graph.values.size()), returned(graph.values.size()), writers(graph.values.size()) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ir::Operand& operand : graph.nodes[n].operands)
      if (std::vector<int>& of = readers[operand.value]; of.empty() || of.back() != static_cast<int>(n))
        of.push_back(static_cast<int>(n));
    for (ir::ValueId id : graph.nodes[n].outputs)
      if (graph.value(id).mutation) writers[graph.root(id)].push_back(static_cast<int>(n));
  }
  for (const ir::Operand& output : graph.outputs) returned[output.value] = true;
}

bool Uses::is_written_once(const ir::Graph& graph, ir::ValueId id) const {
  return !graph.value(id).mutation && writers[id].empty();
}

bool Uses::is_written_between(const ir::Graph& graph, ir::ValueId id, int from, int to) const {
  return std::ranges::any_of(writers[graph.root(id)], [&](int writer) { return writer > from && writer <= to; });
}

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

Nodes nodes_of(const ir::Graph& graph) {
  return {graph.nodes.begin(), graph.nodes.end()};
}

ir::Graph rebuild(const ir::Graph& graph, const Nodes& nodes) {
  MK_CHECK(nodes.size() == graph.nodes.size(), "{} nodes for {}", nodes.size(), graph.nodes.size());
  ir::Graph result{.name = graph.name};
  std::vector<ir::ValueId> renamed(graph.values.size(), -1);
  auto add_value = [&](ir::ValueId id, ir::NodeId producer, int output_index) {
    ir::Value value = graph.value(id);
    value.producer = producer;
    value.output_index = output_index;
    if (value.mutation) value.mutation->of = renamed[value.mutation->of];
    renamed[id] = static_cast<ir::ValueId>(result.values.size());
    result.values.push_back(std::move(value));
    return renamed[id];
  };
  auto rename = [&](ir::Operand operand) {
    MK_CHECK(renamed[operand.value] >= 0, "value '{}' is read but no node makes it", graph.value(operand.value).name);
    operand.value = renamed[operand.value];
    return operand;
  };
  for (ir::ValueId id : graph.inputs) result.inputs.push_back(add_value(id, -1, 0));
  for (const std::optional<ir::Node>& kept : nodes) {
    if (!kept) continue;
    ir::Node node = *kept;
    auto number = static_cast<ir::NodeId>(result.nodes.size());
    for (ir::Operand& operand : node.operands) operand = rename(operand);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      node.outputs[k] = add_value(node.outputs[k], number, static_cast<int>(k));
    result.nodes.push_back(std::move(node));
  }
  for (const ir::Operand& output : graph.outputs) result.outputs.push_back(rename(output));
  return result;
}

ir::Graph rebuild_live(const ir::Graph& graph, Nodes nodes) {
  std::vector<bool> needed(graph.values.size());
  for (const ir::Operand& output : graph.outputs) needed[output.value] = true;
  for (std::size_t n = nodes.size(); n-- > 0;) {
    if (!nodes[n]) continue;
    // What a call does besides its results is not known; what is written in place may be the caller's.
    const bool live =
        nodes[n]->family == ir::Family::call ||
        std::ranges::any_of(nodes[n]->outputs, [&](ir::ValueId id) { return needed[id] || graph.value(id).mutation; });
    if (!live) {
      nodes[n].reset();
      continue;
    }
    for (const ir::Operand& operand : nodes[n]->operands) needed[operand.value] = true;
    for (ir::ValueId id : nodes[n]->outputs)
      if (const auto& mutation = graph.value(id).mutation) needed[mutation->of] = true;
  }
  return rebuild(graph, nodes);
}

std::string_view type_of(const ir::Graph& graph, const ir::Node& node, const Options& options) {
  if (const ir::Call* call = ir::call_of(node)) {
    const ops::UserType* type = ops::user_type_for(call->target);
    return type != nullptr && !type->unsuited(graph, node, options.plan) ? type->name() : std::string_view();
  }
  for (const ops::InstructionType* type : ops::instruction_types())
    if (!type->unsuited(graph, node, options.plan)) return type->name();
  return {};
}

}  // namespace megakittens::passes
