// The table a person reads.
#include <fmt/ranges.h>

#include <algorithm>

#include "ir/graph.hpp"

namespace megakittens::ir {
namespace {

/// A view as Python would write it ("W[1]", "x[:, 0:512].permute(1, 0)"); its numbers where it is none of that.
std::string view_text(const std::string& name, const View& view, const Tensor& base) {
  if (view == View::whole(base)) return name;
  if (view.offset == 0 && view.is_contiguous() && base.is_contiguous() && view.elements() == base.elements())
    return fmt::format("{}.view({})", name, fmt::join(view.sizes, ", "));
  // Broadcast over leading dimensions.
  if (view.rank() > 0 && view.elements() > 0 && view.strides[0] == 0 && view.sizes[0] > 1) {
    View inner = view;
    while (inner.rank() > 0 && inner.strides[0] == 0) {
      inner.sizes.erase(inner.sizes.begin());
      inner.strides.erase(inner.strides.begin());
    }
    return fmt::format("{}.expand({})", view_text(name, inner, base), fmt::join(view.sizes, ", "));
  }
  std::string numbers = name + "{" + to_string(view) + "}";
  if (!base.is_contiguous() || base.elements() == 0 || view.elements() == 0) return numbers;
  std::vector<std::string> index;
  std::vector<std::int64_t> order;
  std::vector<bool> used(view.sizes.size(), false);
  std::int64_t rest = view.offset;
  for (int d = 0; d < base.rank(); ++d) {
    std::int64_t start = rest / base.strides[d];
    rest -= start * base.strides[d];
    int found = -1;
    for (int v = 0; v < view.rank() && found < 0; ++v) {
      bool fits = !used[v] && view.strides[v] > 0 && view.strides[v] % base.strides[d] == 0 &&
                  start + (view.sizes[v] - 1) * (view.strides[v] / base.strides[d]) < base.shape[d];
      if (fits) found = v;
    }
    if (found < 0) {
      index.push_back(fmt::format("{}", start));
      continue;
    }
    used[found] = true;
    order.push_back(found);
    std::int64_t step = view.strides[found] / base.strides[d];
    std::int64_t end = start + (view.sizes[found] - 1) * step + 1;
    std::string range = start == 0 && view.sizes[found] == base.shape[d] ? ":" : fmt::format("{}:{}", start, end);
    index.push_back(step == 1 ? range : fmt::format("{}:{}", range == ":" ? ":" : range, step));
  }
  if (rest != 0 || std::find(used.begin(), used.end(), false) != used.end()) return numbers;
  while (!index.empty() && index.back() == ":") index.pop_back();
  std::string text = index.empty() ? name : fmt::format("{}[{}]", name, fmt::join(index, ", "));
  if (std::is_sorted(order.begin(), order.end())) return text;
  std::vector<std::int64_t> permutation(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) permutation[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
  if (permutation.size() == 2) return text + ".T";
  return fmt::format("{}.permute({})", text, fmt::join(permutation, ", "));
}

std::string joined(const std::vector<Expression>& expressions) {
  std::string text;
  for (const Expression& expression : expressions) text += (text.empty() ? "" : ", ") + to_string(expression);
  return text;
}

/// As view_text, where sizes are symbolic: slices and selects are numbers too.
std::string symbolic_view_text(const std::string& name, const SymbolicView& view, const SymbolicView& base) {
  if (view == base) return name;
  const Expression zero;
  if (!view.strides.empty() && view.strides[0] == zero && view.sizes[0] != Expression(1)) {
    SymbolicView inner = view;
    while (!inner.strides.empty() && inner.strides[0] == zero) {
      inner.sizes.erase(inner.sizes.begin());
      inner.strides.erase(inner.strides.begin());
    }
    return fmt::format("{}.expand({})", symbolic_view_text(name, inner, base), joined(view.sizes));
  }
  const std::size_t rank = base.sizes.size();
  std::vector<std::size_t> order;
  for (std::size_t v = 0; v < view.sizes.size() && view.offset == zero; ++v)
    for (std::size_t d = 0; d < rank; ++d)
      if (view.sizes[v] == base.sizes[d] && view.strides[v] == base.strides[d] && !std::ranges::count(order, d)) {
        order.push_back(d);
        break;
      }
  if (order.size() == rank && view.sizes.size() == rank)
    return rank == 2 ? name + ".T" : fmt::format("{}.permute({})", name, fmt::join(order, ", "));
  return fmt::format("{}{{[{}]+{}:[{}]}}", name, joined(view.sizes), to_string(view.offset), joined(view.strides));
}

struct Row {
  std::string name;
  std::string type;
  std::string what;
  std::string source;
};

std::string attribute_text(const Attribute& attribute) {
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute)) return to_string(*list);
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  if (const auto* flag = std::get_if<bool>(&attribute)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&attribute)) return fmt::format("{}", *number);
  return fmt::format("{}", std::get<double>(attribute));
}

std::string ints_text(const std::vector<int>& ints) {
  return to_string(Extents(ints.begin(), ints.end()));
}

std::string details_text(const Details& details) {
  if (const auto* reduce = std::get_if<Reduce>(&details))
    return fmt::format(" kind={} dims={} keep={}", name_of(reduce->kind), ints_text(reduce->dims), reduce->keep);
  if (const auto* gather = std::get_if<Gather>(&details)) return " coordinates=" + ints_text(gather->coordinates);
  if (const auto* scatter = std::get_if<Scatter>(&details))
    return fmt::format(" kind={} coordinates={}", name_of(scatter->kind), ints_text(scatter->coordinates));
  if (const auto* scan = std::get_if<Scan>(&details))
    return fmt::format(" kind={} dim={}", name_of(scan->kind), scan->dim);
  const auto* call = std::get_if<Call>(&details);
  if (call == nullptr) return {};
  std::string text = " target=" + call->target;
  if (!call->why.empty()) text += " why=" + call->why;
  if (call->own_operands != 0) text += fmt::format(" own_operands={}", call->own_operands);
  for (const auto& [key, argument] : call->arguments) text += fmt::format(" {}={}", key, attribute_text(argument));
  return text;
}

Holder tensor_of(ValueId id) {
  return {.kind = Holder::Kind::tensor, .index = id};
}

std::string tensor_text(const Graph& graph, ValueId id) {
  const Tensor& tensor = graph.value(id).tensor;
  if (!has_holes(graph, tensor_of(id))) return to_string(tensor);
  const SymbolicView whole = symbolic(graph, tensor_of(id), View::whole(tensor));
  std::string text = fmt::format("{}[{}]", name_of(tensor.dtype), joined(whole.sizes));
  if (!is_dense(graph, id)) text += fmt::format(" strides [{}]", joined(whole.strides));
  return text;
}

std::string edge_text(const Graph& graph, ValueId id, const View& view, const Holder& holder) {
  const Value& value = graph.value(id);
  if (!has_holes(graph, holder) && !has_holes(graph, tensor_of(id))) return view_text(value.name, view, value.tensor);
  return symbolic_view_text(value.name, symbolic(graph, holder, view),
                            symbolic(graph, tensor_of(id), View::whole(value.tensor)));
}

Row row_of(const Graph& graph, const Node& node) {
  Row row{.what = std::string(op_of(node)), .source = node.source};
  std::vector<std::string> names;
  std::vector<std::string> types;
  std::string writes;
  for (ValueId id : node.outputs) {
    const Value& value = graph.value(id);
    names.push_back(value.name);
    types.push_back(tensor_text(graph, id));
    if (value.mutation)
      writes += " into " + edge_text(graph, value.mutation->of, value.mutation->view,
                                     {.kind = Holder::Kind::mutation, .index = id});
  }
  row.name = fmt::format("{}", fmt::join(names, ", "));
  row.type = fmt::format("{}", fmt::join(types, ", "));
  std::vector<std::string> operands;
  Holder holder{.kind = Holder::Kind::operand, .index = static_cast<NodeId>(&node - graph.nodes.data())};
  for (const Operand& operand : node.operands) {
    operands.push_back(edge_text(graph, operand.value, operand.view, holder));
    ++holder.operand;
  }
  row.what += fmt::format("({})", fmt::join(operands, ", "));
  row.what += details_text(node.details);
  if (node.body && !plain_op(node)) row.what += " { " + to_string(*node.body) + " }";
  row.what += writes;
  return row;
}

std::string count_text(std::size_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string to_string(const Graph& graph) {
  std::vector<Row> inputs;
  std::vector<Row> nodes;
  for (ValueId id : graph.inputs) inputs.push_back({graph.value(id).name, tensor_text(graph, id), "input", {}});
  for (const Node& node : graph.nodes) nodes.push_back(row_of(graph, node));
  std::size_t name_width = 0;
  std::size_t type_width = 0;
  std::size_t what_width = 0;
  for (const auto* rows : {&inputs, &nodes})
    for (const Row& row : *rows) {
      name_width = std::max(name_width, std::min<std::size_t>(row.name.size(), 32));
      type_width = std::max(type_width, std::min<std::size_t>(row.type.size(), 40));
      if (!row.source.empty()) what_width = std::max(what_width, std::min<std::size_t>(row.what.size(), 60));
    }
  std::string symbols;
  for (const auto& [name, sample] : graph.symbols) symbols += (symbols.empty() ? ", symbols " : ", ") + name;
  std::string text =
      fmt::format("graph {}: {}, {}, {}{}\n", graph.name, count_text(graph.inputs.size(), "input"),
                  count_text(graph.nodes.size(), "node"), count_text(graph.outputs.size(), "output"), symbols);
  for (const auto* rows : {&inputs, &nodes})
    for (const Row& row : *rows) {
      std::string line = fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}", row.name, name_width, row.type, type_width,
                                     row.what, row.source.empty() ? 0 : what_width, row.source);
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
  std::vector<std::string> outputs;
  Holder holder{.kind = Holder::Kind::output};
  for (const Operand& output : graph.outputs) {
    outputs.push_back(edge_text(graph, output.value, output.view, holder));
    ++holder.index;
  }
  text += fmt::format("  return {}\n", fmt::join(outputs, ", "));
  return text;
}

}  // namespace megakittens::ir
