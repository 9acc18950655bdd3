// The rules that speak of single operations.
#include <algorithm>

#include "ir/spec.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

bool is_elementwise(std::string_view op) {
  if (op == "round") return false;
  try {
    parse_pointwise_op(op);
    return true;
  } catch (const FormatError&) {
    return false;
  }
}

/// The index space of what a node writes: its output's shape, or that of the part it overwrites.
const Extents& written_shape(const Graph& graph, const Node& node, std::size_t output = 0) {
  const Value& value = graph.value(node.outputs[output]);
  return value.mutation ? value.mutation->view.sizes : value.tensor.shape;
}

std::string operations_are_known(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    bool plain = is_elementwise(node.op);
    if (!plain && node.op != "pointwise" && node.op != "matmul" && node.op != "copy" && node.op != "opaque")
      return fmt::format("{}: unknown operation", graph.describe(node));
    if (node.body.has_value() && node.op != "pointwise" && node.op != "matmul")
      return fmt::format("{}: has a body, which only pointwise and matmul have", graph.describe(node));
    if (!node.body.has_value() && node.op == "pointwise") return fmt::format("{}: has no body", graph.describe(node));
    std::size_t results = node.body ? node.body->results.size() : 1;
    if (node.op != "opaque" && node.outputs.size() != results)
      return fmt::format("{}: {} outputs for {} results", graph.describe(node), node.outputs.size(), results);
    if (node.op != "opaque") continue;
    auto target = node.attributes.find("target");
    if (target == node.attributes.end() || !std::holds_alternative<std::string>(target->second))
      return fmt::format("{}: has no attribute 'target'", graph.describe(node));
  }
  return {};
}

std::string reference_fault(const Ref& ref, std::size_t at, std::size_t operands, bool accumulator) {
  switch (ref.kind) {
    case Ref::Kind::operand:
      if (ref.index >= 0 && static_cast<std::size_t>(ref.index) < operands) return {};
      return fmt::format("reads operand {} of {}", ref.index, operands);
    case Ref::Kind::step:
      if (ref.index >= 0 && static_cast<std::size_t>(ref.index) < at) return {};
      return fmt::format("reads step {}", ref.index);
    case Ref::Kind::accumulator:
      return accumulator ? std::string{} : "reads an accumulator, which only matmul has";
    case Ref::Kind::constant:
      return {};
  }
  return "reads nothing known";
}

std::string bodies_are_straight(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!node.body) continue;
    const PointwiseBody& body = *node.body;
    for (std::size_t s = 0; s < body.steps.size(); ++s) {
      const Step& step = body.steps[s];
      if (static_cast<int>(step.args.size()) != arity_of(step.op))
        return fmt::format("{}: step {} ({}) has {} arguments", graph.describe(node), s, name_of(step.op),
                           step.args.size());
      for (const Ref& ref : step.args)
        if (std::string fault = reference_fault(ref, s, node.operands.size(), node.op == "matmul"); !fault.empty())
          return fmt::format("{}: step {} {}", graph.describe(node), s, fault);
    }
    for (int result : body.results)
      if (result < 0 || result >= static_cast<int>(body.steps.size()))
        return fmt::format("{}: result is step {} of {}", graph.describe(node), result, body.steps.size());
  }
  return {};
}

std::string elementwise_operands_have_the_shape(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    bool plain = is_elementwise(node.op);
    if (plain && static_cast<int>(node.operands.size()) != arity_of(parse_pointwise_op(node.op)))
      return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    if (node.op == "copy" && node.operands.size() != 1)
      return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    std::size_t first = node.op == "matmul" ? 2 : 0;
    if (!plain && node.op != "pointwise" && node.op != "copy" && node.op != "matmul") continue;
    const Extents& shape = written_shape(graph, node);
    for (std::size_t k = 1; k < node.outputs.size(); ++k)
      if (written_shape(graph, node, k) != shape)
        return fmt::format("{}: outputs of shapes {} and {}", graph.describe(node), to_string(shape),
                           to_string(written_shape(graph, node, k)));
    for (std::size_t i = first; i < node.operands.size(); ++i)
      if (node.operands[i].view.sizes != shape)
        return fmt::format("{}: operand {} has shape {}, the output {}", graph.describe(node), i,
                           to_string(node.operands[i].view.sizes), to_string(shape));
    if (node.op != "copy") continue;
    DType from = graph.value(node.operands[0].value).tensor.dtype;
    DType to = graph.value(node.outputs[0]).tensor.dtype;
    if (from != to) return fmt::format("{}: copies {} to {}", graph.describe(node), name_of(from), name_of(to));
  }
  return {};
}

std::string products_fit(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.op != "matmul") continue;
    if (node.operands.size() < 2) return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    if (node.operands.size() > 2 && !node.body)
      return fmt::format("{}: {} operands and no body that reads them", graph.describe(node), node.operands.size());
    const Extents& a = node.operands[0].view.sizes;
    const Extents& b = node.operands[1].view.sizes;
    const Extents& c = written_shape(graph, node);
    std::size_t rank = c.size();
    bool shapes = rank >= 2 && a.size() == rank && b.size() == rank && a[rank - 1] == b[rank - 2] &&
                  c[rank - 2] == a[rank - 2] && c[rank - 1] == b[rank - 1] &&
                  std::equal(a.begin(), a.end() - 2, c.begin()) && std::equal(b.begin(), b.end() - 2, c.begin());
    if (!shapes)
      return fmt::format("{}: {} times {} does not give {}", graph.describe(node), to_string(a), to_string(b),
                         to_string(c));
    DType left = graph.value(node.operands[0].value).tensor.dtype;
    DType right = graph.value(node.operands[1].value).tensor.dtype;
    if (left != right || !is_floating(left))
      return fmt::format("{}: multiplies {} by {}", graph.describe(node), name_of(left), name_of(right));
  }
  return {};
}

constexpr Rule kOperationRules[] = {
    {"operations_are_known",
     "An operation is a pointwise name, pointwise (with a body), matmul, copy or opaque (with its target); a body has "
     "a "
     "result an output.",
     operations_are_known},
    {"bodies_are_straight", "A step reads operands, constants and earlier steps only, as many as its operation takes.",
     bodies_are_straight},
    {"elementwise_operands_have_the_shape",
     "Operands of an elementwise operation, of a copy and of a body are seen in the shape that is written.",
     elementwise_operands_have_the_shape},
    {"products_fit", "matmul takes [batch.., M, K] and [batch.., K, N] of one floating type and gives [batch.., M, N].",
     products_fit},
};

}  // namespace

std::span<const Rule> operation_rules() {
  return kOperationRules;
}

}  // namespace megakittens::ir
