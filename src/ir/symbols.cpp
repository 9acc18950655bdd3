#include "ir/symbols.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "ir/graph.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

constexpr std::int64_t kMaxInteger = std::int64_t{1} << 48;

template <typename List>
auto* entry(List& list, int index) {
  return index >= 0 && index < static_cast<int>(list.size()) ? &list[static_cast<std::size_t>(index)] : nullptr;
}

/// The integer there; nullptr where the graph has none.
template <typename AnyGraph>
auto find_integer(AnyGraph& graph, const Place& place) -> decltype(graph.values[0].tensor.shape.data()) {
  auto in_view = [&](auto& view) -> decltype(&view.offset) {
    if (place.field == Place::Field::offset) return place.dim == 0 ? &view.offset : nullptr;
    return entry(place.field == Place::Field::size ? view.sizes : view.strides, place.dim);
  };
  const Holder& holder = place.holder;
  if (holder.kind == Holder::Kind::operand) {
    auto* node = entry(graph.nodes, holder.index);
    auto* operand = node == nullptr ? nullptr : entry(node->operands, holder.operand);
    return operand == nullptr ? nullptr : in_view(operand->view);
  }
  if (holder.operand != 0) return nullptr;
  if (holder.kind == Holder::Kind::output) {
    auto* output = entry(graph.outputs, holder.index);
    return output == nullptr ? nullptr : in_view(output->view);
  }
  auto* value = entry(graph.values, holder.index);
  if (value == nullptr) return nullptr;
  if (holder.kind == Holder::Kind::mutation) return value->mutation ? in_view(value->mutation->view) : nullptr;
  if (place.field == Place::Field::offset) return nullptr;
  return entry(place.field == Place::Field::size ? value->tensor.shape : value->tensor.strides, place.dim);
}

/// "s0 = 64, s1 = 3", of the symbols that `names` holds.
template <typename Names>
std::string values_text(const Names& names, const SymbolValues& values) {
  std::vector<std::string> texts;
  for (const auto& name : names) texts.push_back(fmt::format("{} = {}", name, values.at(name)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<std::string> names_of(const SymbolValues& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return names;
}

/// The integer that the hole's expression gives. Throws FormatError where it cannot stand there.
std::int64_t fill(const Graph& graph, const Hole& hole, const SymbolValues& values) {
  const std::optional<std::int64_t> integer = hole.expression.evaluate(values);
  if (const std::string fault = range_fault(hole.where.field, integer); !fault.empty())
    throw FormatError(fmt::format("graph '{}' with {}: {}: {} {}", graph.name,
                                  values_text(hole.expression.symbols(), values), describe(graph, hole.where),
                                  to_string(hole.expression), fault));
  return *integer;
}

void expect_values(const Graph& graph, const SymbolValues& values) {
  const std::string has =
      graph.symbols.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names_of(graph.symbols), ", "));
  for (const auto& [name, value] : values) {
    if (!graph.symbols.contains(name))
      throw OptionError(fmt::format("graph '{}' has no symbol '{}'; {}", graph.name, name, has));
    if (value < 1)
      throw OptionError(fmt::format("graph '{}': {} = {}; a symbol is at least 1", graph.name, name, value));
  }
  std::vector<std::string> missing;
  for (const std::string& name : names_of(graph.symbols))
    if (!values.contains(name)) missing.push_back(name);
  if (!missing.empty())
    throw OptionError(fmt::format("graph '{}': no value for {}; {}", graph.name, fmt::join(missing, ", "), has));
}

}  // namespace

std::string describe(const Graph& graph, const Place& place) {
  constexpr std::string_view kFields[] = {"offset", "size", "stride"};
  std::string text(kFields[static_cast<std::size_t>(place.field)]);
  if (place.field != Place::Field::offset) text += fmt::format(" {}", place.dim);
  switch (place.holder.kind) {
    case Holder::Kind::tensor:
      return fmt::format("{} of value '{}'", text, graph.value(place.holder.index).name);
    case Holder::Kind::mutation:
      return fmt::format("{} of what value '{}' overwrites", text, graph.value(place.holder.index).name);
    case Holder::Kind::operand:
      return fmt::format("{} of operand {} of {}", text, place.holder.operand,
                         graph.describe(graph.nodes.at(static_cast<std::size_t>(place.holder.index))));
    case Holder::Kind::output:
      return fmt::format("{} of output {}", text, place.holder.index);
  }
  return text;
}

const Expression* expression_at(const Graph& graph, const Place& place) {
  const auto found = std::ranges::lower_bound(graph.holes, place, {}, &Hole::where);
  return found == graph.holes.end() || found->where != place ? nullptr : &found->expression;
}

bool has_holes(const Graph& graph, const Holder& holder) {
  auto holder_of = [](const Hole& hole) { return hole.where.holder; };
  return std::ranges::binary_search(graph.holes, holder, {}, holder_of);
}

SymbolicView symbolic(const Graph& graph, const Holder& holder, const View& view) {
  auto at = [&](Place::Field field, int dim, std::int64_t integer) {
    const Expression* expression = expression_at(graph, {holder, field, dim});
    return expression != nullptr ? *expression : Expression(integer);
  };
  SymbolicView result{.offset = at(Place::Field::offset, 0, view.offset)};
  for (std::size_t d = 0; d < view.sizes.size(); ++d)
    result.sizes.push_back(at(Place::Field::size, static_cast<int>(d), view.sizes[d]));
  for (std::size_t d = 0; d < view.strides.size(); ++d)
    result.strides.push_back(at(Place::Field::stride, static_cast<int>(d), view.strides[d]));
  return result;
}

std::vector<Expression> dense_strides(const std::vector<Expression>& sizes) {
  std::vector<Expression> strides(sizes.size());
  Expression step(1);
  for (std::size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    // A symbolic size is at least 1; a size of 0 counts as 1, as in contiguous_strides.
    if (sizes[d] != Expression()) step = step * sizes[d];
  }
  return strides;
}

bool is_dense(const Graph& graph, int value) {
  const Tensor& tensor = graph.value(value).tensor;
  const Holder holder{.kind = Holder::Kind::tensor, .index = value};
  if (!has_holes(graph, holder)) return tensor.strides == contiguous_strides(tensor.shape);
  const SymbolicView whole = symbolic(graph, holder, View::whole(tensor));
  try {
    return whole.strides == dense_strides(whole.sizes);
  } catch (const FormatError&) {
    return false;  // strides that no expression holds
  }
}

bool is_whole(const Graph& graph, const Holder& holder, const View& view, int value) {
  const View whole = View::whole(graph.value(value).tensor);
  const Holder tensor{.kind = Holder::Kind::tensor, .index = value};
  if (view != whole || (!has_holes(graph, holder) && !has_holes(graph, tensor))) return view == whole;
  return symbolic(graph, holder, view) == symbolic(graph, tensor, whole);
}

std::string range_fault(Place::Field field, std::optional<std::int64_t> integer) {
  const std::int64_t least = field == Place::Field::size ? 1 : 0;
  if (!integer || *integer > kMaxInteger) return fmt::format("is above {}", kMaxInteger);
  if (*integer < least) return fmt::format("is {}, below {}", *integer, least);
  return {};
}

std::string symbols_fault(const Graph& graph) {
  for (const auto& [name, sample] : graph.symbols) {
    if (!is_symbol_name(name)) return fmt::format("'{}' is no name of a symbol", name);
    if (sample < 1) return fmt::format("symbol '{}' has the sample {}", name, sample);
  }
  std::set<std::string> used;
  for (std::size_t i = 0; i < graph.holes.size(); ++i) {
    const Hole& hole = graph.holes[i];
    if (i > 0 && graph.holes[i - 1].where >= hole.where) return fmt::format("expression {} is out of order", i);
    const std::int64_t* integer = find_integer(graph, hole.where);
    if (integer == nullptr) return fmt::format("expression {} stands for no integer", i);
    const std::string text = fmt::format("{}: {}", describe(graph, hole.where), to_string(hole.expression));
    if (hole.expression.is_constant()) return text + " has no symbol";
    for (const std::string& name : hole.expression.symbols()) {
      if (!graph.symbols.contains(name)) return fmt::format("{} has the unknown symbol '{}'", text, name);
      used.insert(name);
    }
    const std::optional<std::int64_t> sample = hole.expression.evaluate(graph.symbols);
    if (const std::string fault = range_fault(hole.where.field, sample); !fault.empty())
      return fmt::format("{} {}", text, fault);
    if (*sample != *integer) return fmt::format("{} is {}, the graph has {}", text, *sample, *integer);
  }
  for (const auto& [name, sample] : graph.symbols)
    if (!used.contains(name)) return fmt::format("no size uses symbol '{}'", name);
  return {};
}

Graph bind_symbols(const Graph& graph, const SymbolValues& values) {
  expect_values(graph, values);
  Graph bound = graph;
  for (const Hole& hole : graph.holes) {
    std::int64_t* integer = find_integer(bound, hole.where);
    MK_CHECK(integer != nullptr, "graph '{}': {} stands for no integer", graph.name, to_string(hole.expression));
    *integer = fill(graph, hole, values);
  }
  bound.holes.clear();
  bound.symbols.clear();
  try {
    verify(bound);
  } catch (const FormatError& error) {
    if (values.empty()) throw;
    throw FormatError(fmt::format("with {}: {}", values_text(names_of(values), values), error.what()));
  }
  return bound;
}

void expect_bound(const Graph& graph) {
  if (graph.symbols.empty() && graph.holes.empty()) return;
  std::vector<std::string> pairs;
  std::vector<std::string> options;
  for (const auto& [name, sample] : graph.symbols) {
    pairs.push_back(fmt::format("{{\"{}\", {}}}", name, sample));
    options.push_back(fmt::format("--bind {}={}", name, sample));
  }
  throw UserError(fmt::format("graph '{}' has unbound symbols {}: bind them first (graph.bind({{{}}}), {})", graph.name,
                              fmt::join(names_of(graph.symbols), ", "), fmt::join(pairs, ", "),
                              fmt::join(options, " ")));
}

}  // namespace megakittens::ir
