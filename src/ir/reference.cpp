#include "ir/reference.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

/// Calls `visit(address)` for each element in row-major order, innermost dimension in a plain loop.
template <typename Visit>
void for_each_element(const View& view, Visit&& visit) {
  if (view.elements() == 0) return;
  if (view.rank() == 0) return visit(view.offset);
  int inner = view.rank() - 1;
  Extents at(view.sizes.size(), 0);
  std::int64_t base = view.offset;
  while (true) {
    for (std::int64_t i = 0; i < view.sizes[inner]; ++i) visit(base + i * view.strides[inner]);
    int d = inner - 1;
    for (; d >= 0; --d) {
      base += view.strides[d];
      if (++at[d] < view.sizes[d]) break;
      base -= view.strides[d] * view.sizes[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

std::mutex call_mutex;

std::map<std::string, CallReference>& call_references() {
  // Never destroyed: a reference may hold what ends before statics do.
  static auto* references = new std::map<std::string, CallReference>;
  return *references;
}

CallReference reference_of(const Graph& graph, const Node& node) {
  std::scoped_lock lock(call_mutex);
  const Call& call = *call_of(node);
  auto found = call_references().find(call.target);
  if (found == call_references().end())
    throw UnsupportedError(
        fmt::format("{} has no reference: the operation is not supported{}{}. Compute it outside the compiled "
                    "function, or write an instruction type for it (docs/guides/instruction-types.md)",
                    graph.describe(node), call.why.empty() ? "" : ": ", call.why));
  return found->second;
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, ReferenceNumerics numerics)
      : graph_(graph), numerics_(numerics), storage_(graph.values.size()) {}

  std::vector<float>& storage(ValueId id) { return storage_[static_cast<std::size_t>(graph_.root(id))]; }

  void run(const Node& node) {
    const CallReference call = node.family == Family::call ? reference_of(graph_, node) : CallReference();
    std::vector<std::vector<float>> operands;
    for (const Operand& operand : node.operands) operands.push_back(gather(storage(operand.value), operand.view));
    switch (node.family) {
      case Family::pointwise:
        return run_body(node, operands, {});
      case Family::contraction:
        return finish(node, operands, {matmul(node, operands)});
      case Family::copy:
        return store(node.outputs[0], std::move(operands[0]));
      case Family::call: {
        const std::vector<std::vector<float>> own(operands.begin(), operands.begin() + first_body_operand(node));
        return finish(node, operands, call(graph_, node, own));
      }
      default:
        return finish(node, operands, evaluate_family(graph_, node, operands));
    }
  }

 private:
  /// `results` are the outputs, or the accumulator of the body.
  void finish(const Node& node, const std::vector<std::vector<float>>& operands,
              std::vector<std::vector<float>> results) {
    if (node.body) return run_body(node, operands, results[0]);
    MK_CHECK(results.size() >= node.outputs.size(), "{}: {} results", graph_.describe(node), results.size());
    for (std::size_t k = 0; k < node.outputs.size(); ++k) store(node.outputs[k], std::move(results[k]));
  }

  std::vector<float> matmul(const Node& node, const std::vector<std::vector<float>>& operands) const {
    const Extents& left = node.operands[0].view.sizes;
    const Extents& right = node.operands[1].view.sizes;
    std::int64_t m = left[left.size() - 2];
    std::int64_t k = left.back();
    std::int64_t n = right.back();
    std::int64_t batches = 1;
    for (std::size_t d = 0; d + 2 < left.size(); ++d) batches *= left[d];
    std::vector<float> product(static_cast<std::size_t>(batches * m * n));
    for (std::int64_t i = 0; i < batches; ++i)
      reference_product(operands[0].data() + i * m * k, operands[1].data() + i * k * n, product.data() + i * m * n, m,
                        n, k);
    return product;
  }

  /// Step by step over all elements: each step's values live until the end.
  void run_body(const Node& node, const std::vector<std::vector<float>>& operands,
                const std::vector<float>& accumulator) {
    const Value& first = graph_.value(node.outputs[0]);
    std::int64_t count = first.mutation ? first.mutation->view.elements() : first.tensor.elements();
    std::vector<std::vector<float>> steps;
    for (const Step& step : node.body->steps) {
      std::vector<std::vector<float>> constants(step.args.size());
      const float* args[3] = {nullptr, nullptr, nullptr};
      for (std::size_t a = 0; a < step.args.size() && a < 3; ++a) {
        const Ref& ref = step.args[a];
        auto index = static_cast<std::size_t>(ref.index);
        if (ref.kind == Ref::Kind::constant)
          constants[a].assign(static_cast<std::size_t>(count), static_cast<float>(ref.value));
        args[a] = ref.kind == Ref::Kind::operand       ? operands[index].data()
                  : ref.kind == Ref::Kind::step        ? steps[index].data()
                  : ref.kind == Ref::Kind::accumulator ? accumulator.data()
                                                       : constants[a].data();
      }
      MK_CHECK(!step.args.empty(), "{} has a step without arguments", node.name);
      const float* first = args[0];  // null where there are no elements
      std::vector<float> result(static_cast<std::size_t>(count));
      bool keeps = step.op == PointwiseOp::round && numerics_ == ReferenceNumerics::exact && is_floating(step.dtype);
      for (std::size_t i = 0; first != nullptr && i < result.size(); ++i) {
        if (step.op == PointwiseOp::round)
          result[i] = keeps ? first[i] : round_to(step.dtype, first[i]);
        else
          result[i] = apply(step.op, first[i], args[1] ? args[1][i] : 0, args[2] ? args[2][i] : 0);
      }
      steps.push_back(std::move(result));
    }
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      store(node.outputs[k], steps[static_cast<std::size_t>(node.body->results[k])]);
  }

  void store(ValueId id, std::vector<float> values) {
    const Value& value = graph_.value(id);
    if (numerics_ == ReferenceNumerics::eager || !is_floating(value.tensor.dtype))
      for (float& element : values) element = round_to(value.tensor.dtype, element);
    if (value.mutation)
      scatter(storage(id), value.mutation->view, values);
    else if (value.tensor.is_contiguous())
      storage(id) = std::move(values);
    else
      scatter(storage(id) = std::vector<float>(static_cast<std::size_t>(value.tensor.span())),
              View::whole(value.tensor), values);
  }

  const Graph& graph_;
  ReferenceNumerics numerics_;
  std::vector<std::vector<float>> storage_;
};

}  // namespace

void set_call_reference(const std::string& target, CallReference reference) {
  std::scoped_lock lock(call_mutex);
  if (reference)
    call_references()[target] = std::move(reference);
  else
    call_references().erase(target);
}

std::vector<float> gather(const std::vector<float>& storage, const View& view) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(view.elements()));
  for_each_element(view, [&](std::int64_t at) { values.push_back(storage[static_cast<std::size_t>(at)]); });
  return values;
}

void scatter(std::vector<float>& storage, const View& view, const std::vector<float>& values) {
  std::size_t next = 0;
  for_each_element(view, [&](std::int64_t at) { storage[static_cast<std::size_t>(at)] = values[next++]; });
}

ReferenceResult evaluate(const Graph& graph, std::vector<std::vector<float>> inputs, ReferenceNumerics numerics) {
  expect_bound(graph);
  if (inputs.size() != graph.inputs.size())
    throw UserError(
        fmt::format("graph '{}' takes {} inputs, {} were given", graph.name, graph.inputs.size(), inputs.size()));
  Evaluator evaluator(graph, numerics);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Value& value = graph.value(graph.inputs[i]);
    if (static_cast<std::int64_t>(inputs[i].size()) != value.tensor.span())
      throw UserError(fmt::format("input '{}' needs a storage of {} elements, {} were given", value.name,
                                  value.tensor.span(), inputs[i].size()));
    evaluator.storage(graph.inputs[i]) = std::move(inputs[i]);
  }
  for (const Node& node : graph.nodes) evaluator.run(node);
  ReferenceResult result;
  for (const Operand& output : graph.outputs)
    result.outputs.push_back(gather(evaluator.storage(output.value), output.view));
  for (ValueId id : graph.inputs) result.inputs.push_back(evaluator.storage(id));
  return result;
}

}  // namespace megakittens::ir
