// The rules that speak of single operations.
#include <algorithm>

#include "ir/spec.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

/// The index space of what a node writes: its output's shape, or that of the part it overwrites.
const Extents& written_shape(const Graph& graph, const Node& node, std::size_t output = 0) {
  const Value& value = graph.value(node.outputs[output]);
  return value.mutation ? value.mutation->view.sizes : value.tensor.shape;
}

std::string families_are_complete(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.family > Family::call)
      return fmt::format("node '{}': unknown family {}", node.name, static_cast<int>(node.family));
    const std::size_t details = node.family == Family::reduce    ? 1
                                : node.family == Family::gather  ? 2
                                : node.family == Family::scatter ? 3
                                : node.family == Family::scan    ? 4
                                : node.family == Family::call    ? 5
                                                                 : 0;
    if (node.details.index() != details)
      return fmt::format("{}: its details are another family's", graph.describe(node));
    if (const Call* call = call_of(node); call != nullptr && call->target.empty())
      return fmt::format("{}: has no target", graph.describe(node));
    const bool may_have_body = node.family == Family::pointwise || node.family == Family::contraction ||
                               node.family == Family::reduce || node.family == Family::call;
    if (node.body && !may_have_body)
      return fmt::format("{}: has a body, which only pointwise, matmul, reduce and call have", graph.describe(node));
    if (!node.body && node.family == Family::pointwise) return fmt::format("{}: has no body", graph.describe(node));
    if (const Call* call = call_of(node)) {
      if (!node.body && call->own_operands != 0)
        return fmt::format("{}: counts {} operands of its own without a body", graph.describe(node),
                           call->own_operands);
      if (call->own_operands < 0 || static_cast<std::size_t>(call->own_operands) > node.operands.size())
        return fmt::format("{}: {} operands of its own among {}", graph.describe(node), call->own_operands,
                           node.operands.size());
      if (!node.body) continue;
      if (node.outputs.size() != 1)
        return fmt::format("{}: {} outputs, and a call with a body has one", graph.describe(node), node.outputs.size());
    }
    std::size_t results = node.body ? node.body->results.size() : 1;
    const auto* scan = std::get_if<Scan>(&node.details);
    const bool with_positions = scan != nullptr && (scan->kind == ScanKind::max || scan->kind == ScanKind::min);
    if (with_positions && node.outputs.size() == 2) results = 2;
    if (node.outputs.size() != results)
      return fmt::format("{}: {} outputs for {} results", graph.describe(node), node.outputs.size(), results);
  }
  return {};
}

/// Of what step `at` of the node's body reads.
std::string reference_fault(const Ref& ref, int at, const Node& node) {
  switch (ref.kind) {
    case Ref::Kind::operand:
      if (ref.index < 0 || static_cast<std::size_t>(ref.index) >= node.operands.size())
        return fmt::format("reads operand {} of {}", ref.index, node.operands.size());
      if (ref.index >= first_body_operand(node)) return {};
      return fmt::format("reads operand {}; the body's begin at {}", ref.index, first_body_operand(node));
    case Ref::Kind::step:
      if (ref.index >= 0 && ref.index < at) return {};
      return fmt::format("reads step {}", ref.index);
    case Ref::Kind::accumulator:
      return node.family != Family::pointwise ? std::string{}
                                              : "reads an accumulator, which only matmul, reduce and call have";
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
        if (std::string fault = reference_fault(ref, static_cast<int>(s), node); !fault.empty())
          return fmt::format("{}: step {} {}", graph.describe(node), s, fault);
    }
    for (int result : body.results)
      if (result < 0 || result >= static_cast<int>(body.steps.size()))
        return fmt::format("{}: result is step {} of {}", graph.describe(node), result, body.steps.size());
  }
  return {};
}

std::string operands_have_the_written_shape(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.family == Family::copy && node.operands.size() != 1)
      return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    if (node.family != Family::copy && !node.body) continue;
    const Extents& shape = written_shape(graph, node);
    for (std::size_t k = 1; k < node.outputs.size(); ++k)
      if (written_shape(graph, node, k) != shape)
        return fmt::format("{}: outputs of shapes {} and {}", graph.describe(node), to_string(shape),
                           to_string(written_shape(graph, node, k)));
    for (auto i = static_cast<std::size_t>(first_body_operand(node)); i < node.operands.size(); ++i)
      if (node.operands[i].view.sizes != shape)
        return fmt::format("{}: operand {} has shape {}, the output {}", graph.describe(node), i,
                           to_string(node.operands[i].view.sizes), to_string(shape));
    if (node.family != Family::copy) continue;
    DType from = graph.value(node.operands[0].value).tensor.dtype;
    DType to = graph.value(node.outputs[0]).tensor.dtype;
    if (from != to) return fmt::format("{}: copies {} to {}", graph.describe(node), name_of(from), name_of(to));
  }
  return {};
}

std::string products_fit(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.family != Family::contraction) continue;
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

/// The shape that reducing leaves, or a sentence.
std::string reduced_shape(const Reduce& reduce, const Extents& from, Extents& shape) {
  const auto rank = static_cast<int>(from.size());
  for (std::size_t i = 0; i < reduce.dims.size(); ++i)
    if (reduce.dims[i] < 0 || reduce.dims[i] >= rank || (i > 0 && reduce.dims[i] <= reduce.dims[i - 1]))
      return fmt::format("reduces dimensions {} of rank {}", to_string(Extents(reduce.dims.begin(), reduce.dims.end())),
                         rank);
  for (int d = 0; d < rank; ++d) {
    const bool reduced = std::ranges::binary_search(reduce.dims, d);
    if (reduced && reduce.keep) shape.push_back(1);
    if (!reduced) shape.push_back(from[static_cast<std::size_t>(d)]);
  }
  return {};
}

std::string reductions_fit(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto* reduce = std::get_if<Reduce>(&node.details);
    if (reduce == nullptr) continue;
    if (node.operands.empty() || (node.operands.size() > 1 && !node.body))
      return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    Extents shape;
    if (std::string fault = reduced_shape(*reduce, node.operands[0].view.sizes, shape); !fault.empty())
      return fmt::format("{}: {}", graph.describe(node), fault);
    if (shape != written_shape(graph, node))
      return fmt::format("{}: reducing {} gives {}, not {}", graph.describe(node),
                         to_string(node.operands[0].view.sizes), to_string(shape),
                         to_string(written_shape(graph, node)));
  }
  return {};
}

/// Of a node whose index operands, from `first` on, address a tensor of `sizes` over an index space.
std::string coordinates_fault(const Graph& graph, const Node& node, const std::vector<int>& coordinates,
                              std::size_t first, const Extents& sizes, const Extents& space) {
  if (coordinates.size() != sizes.size())
    return fmt::format("{} coordinates for rank {}", coordinates.size(), sizes.size());
  const std::size_t indices = node.operands.size() - first;
  std::vector<bool> used(indices, false);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const int c = coordinates[d];
    const auto index = static_cast<std::size_t>(-1 - c);
    if (c >= static_cast<int>(space.size()) || (c < 0 && index >= indices))
      return fmt::format("coordinate {} of dimension {}", c, d);
    if (c < 0) used[index] = true;
    if (c >= 0 && space[static_cast<std::size_t>(c)] > sizes[d])
      return fmt::format("dimension {} of the index space has {} positions for {} elements", c,
                         space[static_cast<std::size_t>(c)], sizes[d]);
  }
  for (std::size_t k = 0; k < indices; ++k) {
    const Operand& operand = node.operands[first + k];
    if (!used[k]) return fmt::format("index operand {} is no coordinate", k);
    if (operand.view.sizes != space)
      return fmt::format("index operand {} has shape {}, the index space {}", k, to_string(operand.view.sizes),
                         to_string(space));
    if (kind_of(graph.value(operand.value).tensor.dtype) != DTypeKind::integer)
      return fmt::format("index operand {} is {}", k, name_of(graph.value(operand.value).tensor.dtype));
  }
  return {};
}

std::string indices_fit(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto* gather = std::get_if<Gather>(&node.details);
    const auto* scatter = std::get_if<Scatter>(&node.details);
    if (gather == nullptr && scatter == nullptr) continue;
    const std::size_t first = gather != nullptr ? 1 : 2;
    if (node.operands.size() < first) return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    const Extents& sizes = node.operands[0].view.sizes;
    const Extents& written = written_shape(graph, node);
    if (scatter != nullptr && sizes != written)
      return fmt::format("{}: writes {} over {}", graph.describe(node), to_string(written), to_string(sizes));
    const Extents& space = gather != nullptr ? written : node.operands[1].view.sizes;
    const std::vector<int>& coordinates = gather != nullptr ? gather->coordinates : scatter->coordinates;
    if (std::string fault = coordinates_fault(graph, node, coordinates, first, sizes, space); !fault.empty())
      return fmt::format("{}: {}", graph.describe(node), fault);
    for (std::size_t i = 0; i < first; ++i)
      if (const DType from = graph.value(node.operands[i].value).tensor.dtype,
          to = graph.value(node.outputs[0]).tensor.dtype;
          from != to)
        return fmt::format("{}: moves {} to {}", graph.describe(node), name_of(from), name_of(to));
  }
  return {};
}

std::string scans_fit(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto* scan = std::get_if<Scan>(&node.details);
    if (scan == nullptr) continue;
    if (node.operands.size() != 1) return fmt::format("{}: {} operands", graph.describe(node), node.operands.size());
    const Extents& sizes = node.operands[0].view.sizes;
    if (scan->dim < 0 || scan->dim >= static_cast<int>(sizes.size()))
      return fmt::format("{}: dimension {} of rank {}", graph.describe(node), scan->dim, sizes.size());
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      if (written_shape(graph, node, k) != sizes)
        return fmt::format("{}: gives {} for {}", graph.describe(node), to_string(written_shape(graph, node, k)),
                           to_string(sizes));
  }
  return {};
}

constexpr Rule kOperationRules[] = {
    {"families_are_complete",
     "A node has its family's details; pointwise has a body, matmul, reduce and a call with one output may have one; "
     "a body has a result for each output.",
     families_are_complete},
    {"bodies_are_straight",
     "A step reads the body's operands, constants and earlier steps only, as many as its operation takes.",
     bodies_are_straight},
    {"operands_have_the_written_shape", "Operands of a copy and of a body are seen in the shape that is written.",
     operands_have_the_written_shape},
    {"products_fit", "matmul takes [batch.., M, K] and [batch.., K, N] of one floating type and gives [batch.., M, N].",
     products_fit},
    {"reductions_fit", "reduce names ascending dimensions of its operand and gives what is left of its shape.",
     reductions_fit},
    {"indices_fit",
     "gather and scatter name a coordinate for each dimension of operand 0; index operands are integers in the "
     "shape of the index space; elements keep their dtype.",
     indices_fit},
    {"scans_fit", "scan names a dimension of its operand and keeps the shape.", scans_fit},
};

}  // namespace

std::span<const Rule> operation_rules() {
  return kOperationRules;
}

}  // namespace megakittens::ir
