#include <algorithm>

#include "ops/pointwise/compile.hpp"
#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

using ir::PointwiseBody;
using ir::Ref;
using ir::Step;

/// What a node computes per element, of its accumulator where its type applies a body to that. Empty where it is
/// neither.
std::optional<PointwiseBody> body_or_accumulator(const ir::Node& node) {
  return ops::takes_epilogue(node) ? ops::epilogue_of(node) : ops::body_of(node);
}

/// Appends `consumer`'s steps to `producer`'s. `from[k]` says what consumer's operand k is now: the producer's result
/// (-1) or an operand of the joint node. `operands`: the types of what the producer reads.
PointwiseBody join(const PointwiseBody& producer, const PointwiseBody& consumer, const std::vector<int>& from,
                   ir::DType between, std::span<const ir::DType> operands, Numerics numerics) {
  PointwiseBody joint{.steps = producer.steps};
  int result = producer.results[0];
  // What becomes bool is 0 or 1, and what becomes an integer is whole, whatever the numerics.
  const bool rounds = !ir::is_floating(between) || (numerics == Numerics::eager && between != ir::DType::f32);
  if (rounds && !ir::is_exact(producer, result, between, operands)) {
    joint.steps.push_back({.op = ir::PointwiseOp::round, .args = {Ref::step(result)}, .dtype = between});
    result = static_cast<int>(joint.steps.size()) - 1;
  }
  int offset = static_cast<int>(joint.steps.size());
  for (Step step : consumer.steps) {
    for (Ref& ref : step.args) {
      if (ref.kind == Ref::Kind::step) ref.index += offset;
      if (ref.kind == Ref::Kind::operand) ref = from[ref.index] < 0 ? Ref::step(result) : Ref::operand(from[ref.index]);
    }
    joint.steps.push_back(std::move(step));
  }
  for (int k : consumer.results) joint.results.push_back(k + offset);
  return joint;
}

/// Works on a copy of the node list; fused nodes leave a gap where the producer was.
class Fuser {
 public:
  Fuser(const ir::Graph& graph, const Options& options)
      : graph_(graph), options_(options), nodes_(nodes_of(graph)), uses_(graph) {}

  ir::Graph run() {
    for (std::size_t n = 0; n < nodes_.size(); ++n)
      while (nodes_[n] && absorb_a_producer(static_cast<int>(n))) {
      }
    return rebuild(graph_, nodes_);
  }

 private:
  bool absorb_a_producer(int n) {
    const ir::Node consumer = *nodes_[n];
    std::optional<PointwiseBody> body = ops::body_of(consumer);
    if (!body) return false;
    for (const ir::Operand& operand : consumer.operands) {
      const ir::Value& value = graph_.value(operand.value);
      if (value.producer < 0 || !nodes_[value.producer] || !may_join(operand, n)) continue;
      std::optional<ir::Node> joint = joined(*nodes_[value.producer], consumer, *body, operand.value);
      if (!joint) continue;
      nodes_[value.producer].reset();
      nodes_[n] = std::move(joint);
      return true;
    }
    return false;
  }

  /// The producer's result is seen whole by this node alone, and may be computed as late as here.
  bool may_join(const ir::Operand& operand, int n) const {
    const ir::Value& value = graph_.value(operand.value);
    const ir::Node& producer = *nodes_[value.producer];
    if (uses_.readers[operand.value].size() != 1 || uses_.returned[operand.value]) return false;
    if (producer.outputs.size() != 1 || !(operand.view == ir::View::whole(value.tensor))) return false;
    if (!uses_.is_written_once(graph_, operand.value)) return false;
    return std::ranges::none_of(producer.operands, [&](const ir::Operand& read) {
      return uses_.is_written_between(graph_, read.value, value.producer, n);
    });
  }

  std::optional<ir::Node> joined(const ir::Node& producer, const ir::Node& consumer, const PointwiseBody& body,
                                 ir::ValueId between) const {
    std::optional<PointwiseBody> first = body_or_accumulator(producer);
    if (!first || first->results.size() != 1) return std::nullopt;
    ir::Node joint = consumer;
    joint.family = producer.family == ir::Family::copy ? ir::Family::pointwise : producer.family;
    joint.details = producer.details;
    joint.operands = producer.operands;
    const int body_begin = ir::first_body_operand(producer);
    if (auto* call = std::get_if<ir::Call>(&joint.details)) call->own_operands = body_begin;
    std::vector<int> from;
    for (const ir::Operand& operand : consumer.operands) {
      if (operand.value == between) {
        // Every reading of it must be the whole one: another view would see other elements.
        if (!(operand.view == ir::View::whole(graph_.value(between).tensor))) return std::nullopt;
        from.push_back(-1);
        continue;
      }
      // An operand of both is read once, unless the producer's own operation reads it: it reads other elements.
      auto begin = joint.operands.begin() + body_begin;
      auto same = std::find(begin, joint.operands.end(), operand);
      if (same == joint.operands.end()) {
        joint.operands.push_back(operand);
        from.push_back(static_cast<int>(joint.operands.size()) - 1);
      } else {
        from.push_back(static_cast<int>(same - joint.operands.begin()));
      }
    }
    std::vector<ir::DType> types;
    for (const ir::Operand& operand : producer.operands) types.push_back(graph_.value(operand.value).tensor.dtype);
    joint.body = join(*first, body, from, graph_.value(between).tensor.dtype, types, options_.numerics);
    return fits(joint, producer) ? std::optional(joint) : std::nullopt;
  }

  /// The joint node has an instruction type, and no slower one than its producer had.
  bool fits(const ir::Node& joint, const ir::Node& producer) const {
    if (joint.operands.size() + joint.outputs.size() > program::kMaxOperands) return false;
    const std::string_view type = type_of(graph_, joint, options_);
    return !type.empty() && (joint.family == ir::Family::pointwise || type == type_of(graph_, producer, options_));
  }

  const ir::Graph& graph_;
  const Options& options_;
  Nodes nodes_;
  Uses uses_;
};

}  // namespace

ir::Graph fuse_pointwise(const ir::Graph& graph, const Options& options) {
  return Fuser(graph, options).run();
}

}  // namespace megakittens::passes
