#include <algorithm>

#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

using ir::Ref;

/// The number that every element of a node's only result is, rounded to its type; empty where elements differ.
std::optional<double> constant_of(const ir::Graph& graph, const ir::Node& node) {
  if (node.family != ir::Family::pointwise || !node.operands.empty() || node.outputs.size() != 1) return std::nullopt;
  return ir::round_to(graph.value(node.outputs[0]).tensor.dtype, ir::evaluate(*node.body, {}, 0)[0]);
}

/// Replaces operand k of the body by a number, or by operand number `to[k]`.
void renumber(ir::PointwiseBody& body, const std::vector<std::optional<double>>& numbers, const std::vector<int>& to) {
  for (ir::Step& step : body.steps)
    for (Ref& ref : step.args) {
      if (ref.kind != Ref::Kind::operand) continue;
      const std::optional<double>& number = numbers[static_cast<std::size_t>(ref.index)];
      ref = number ? Ref::constant(*number) : Ref::operand(to[static_cast<std::size_t>(ref.index)]);
    }
}

/// Reads that are constants leave the node's operands.
void fold_operands(ir::Node& node, const std::vector<std::optional<double>>& constants) {
  const auto first = static_cast<std::size_t>(ir::first_body_operand(node));
  std::vector<std::optional<double>> numbers(node.operands.size());
  std::vector<int> to(node.operands.size());
  std::vector<ir::Operand> kept;
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    if (k >= first) numbers[k] = constants[static_cast<std::size_t>(node.operands[k].value)];
    to[k] = static_cast<int>(kept.size());
    if (!numbers[k]) kept.push_back(node.operands[k]);
  }
  if (kept.size() == node.operands.size()) return;
  renumber(*node.body, numbers, to);
  node.operands = std::move(kept);
}

/// Steps of constants alone become constants, and those that nothing reads any more go.
void fold_steps(ir::PointwiseBody& body) {
  std::vector<std::optional<double>> values(body.steps.size());
  for (std::size_t s = 0; s < body.steps.size(); ++s) {
    ir::Step& step = body.steps[s];
    for (Ref& ref : step.args)
      if (ref.kind == Ref::Kind::step)
        if (const std::optional<double>& value = values[static_cast<std::size_t>(ref.index)])
          ref = Ref::constant(*value);
    if (std::ranges::all_of(step.args, [](const Ref& ref) { return ref.kind == Ref::Kind::constant; }))
      values[s] = ir::evaluate({.steps = {step}, .results = {0}}, {}, 0)[0];
  }
  std::vector<bool> needed(body.steps.size());
  for (int result : body.results) needed[static_cast<std::size_t>(result)] = true;
  for (std::size_t s = body.steps.size(); s-- > 0;)
    if (needed[s])
      for (const Ref& ref : body.steps[s].args)
        if (ref.kind == Ref::Kind::step) needed[static_cast<std::size_t>(ref.index)] = true;
  std::vector<int> to(body.steps.size());
  std::vector<ir::Step> kept;
  for (std::size_t s = 0; s < body.steps.size(); ++s) {
    to[s] = static_cast<int>(kept.size());
    if (!needed[s]) continue;
    for (Ref& ref : body.steps[s].args)
      if (ref.kind == Ref::Kind::step) ref.index = to[static_cast<std::size_t>(ref.index)];
    kept.push_back(std::move(body.steps[s]));
  }
  for (int& result : body.results) result = to[static_cast<std::size_t>(result)];
  body.steps = std::move(kept);
}

}  // namespace

ir::Graph fold_constants(const ir::Graph& graph, const Options&) {
  const Uses uses(graph);
  Nodes nodes = nodes_of(graph);
  std::vector<std::optional<double>> constants(graph.values.size());
  for (std::optional<ir::Node>& node : nodes) {
    if (!node->body) continue;
    fold_operands(*node, constants);
    fold_steps(*node->body);
    const ir::ValueId made = node->outputs[0];
    if (uses.is_written_once(graph, made)) constants[static_cast<std::size_t>(made)] = constant_of(graph, *node);
  }
  return rebuild_live(graph, std::move(nodes));
}

}  // namespace megakittens::passes
