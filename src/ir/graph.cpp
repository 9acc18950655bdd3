#include "ir/graph.hpp"

#include "support/error.hpp"

namespace megakittens::ir {

const Value& Graph::value(ValueId id) const {
  MK_CHECK(id >= 0 && id < static_cast<ValueId>(values.size()), "value {} of {}", id, values.size());
  return values[static_cast<std::size_t>(id)];
}

ValueId Graph::root(ValueId id) const {
  // Each version names an earlier one, so a chain longer than the list of values is a cycle.
  for (std::size_t hops = 0; hops <= values.size(); ++hops) {
    const Value& at = value(id);
    if (!at.mutation) return id;
    id = at.mutation->of;
  }
  MK_CHECK(false, "the versions of value {} form a cycle", id);
  return -1;
}

std::string Graph::describe(const Node& node) const {
  const Call* call = call_of(node);
  std::string text = fmt::format("node '{}' ({})", node.name, call != nullptr ? call->target : op_of(node));
  if (!node.source.empty()) text += " at " + node.source;
  return text;
}

#define MK_NAMES(Enum, ...)                               \
  std::string_view name_of(Enum value) {                  \
    constexpr std::string_view kNames[] = {__VA_ARGS__};  \
    return kNames[static_cast<std::size_t>(value)];       \
  }
MK_NAMES(Family, "pointwise", "matmul", "reduce", "gather", "scatter", "scan", "copy", "call")
MK_NAMES(Reduction, "sum", "mean", "prod", "amax", "amin", "any", "all", "argmax", "argmin")
MK_NAMES(ScatterKind, "set", "add", "prod", "amax", "amin")
MK_NAMES(ScanKind, "sum", "prod", "max", "min", "logsumexp")
#undef MK_NAMES

PointwiseBody plain_body(PointwiseOp op) {
  Step step{.op = op};
  for (int i = 0; i < arity_of(op); ++i) step.args.push_back(Ref::operand(i));
  return {.steps = {std::move(step)}, .results = {0}};
}

std::optional<PointwiseOp> plain_op(const Node& node) {
  if (node.family != Family::pointwise || !node.body || node.body->steps.size() != 1) return std::nullopt;
  const Step& step = node.body->steps[0];
  if (step.op == PointwiseOp::round || step.args.size() != node.operands.size()) return std::nullopt;
  return *node.body == plain_body(step.op) ? std::optional(step.op) : std::nullopt;
}

std::string_view op_of(const Node& node) {
  const std::optional<PointwiseOp> op = plain_op(node);
  return op ? name_of(*op) : name_of(node.family);
}

int first_body_operand(const Node& node) {
  if (const Call* call = call_of(node)) return node.body ? call->own_operands : static_cast<int>(node.operands.size());
  return node.family == Family::contraction ? 2 : node.family == Family::reduce ? 1 : 0;
}

}  // namespace megakittens::ir
