#include "passes/rebuild.hpp"

#include "support/error.hpp"

namespace megakittens::passes {

ir::Graph rebuild(const ir::Graph& graph, const std::vector<std::optional<ir::Node>>& nodes) {
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

}  // namespace megakittens::passes
