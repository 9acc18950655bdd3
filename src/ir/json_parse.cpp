// From .mkg.json to a graph; the form is described in ir/json.cpp.
#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "ir/graph.hpp"
#include "support/error.hpp"
#include "support/json.hpp"

namespace megakittens::ir {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;
constexpr std::int64_t kMaxCount = std::int64_t{1} << 24;

/// A number, or what JSON has no number for.
std::optional<double> read_float(const JsonReader& json) {
  if (json.value().is_number()) return json.number();
  const std::string& text = json.text();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// The text's value by `parse`, whose FormatError gets the place.
template <typename Parse>
auto read_by(const JsonReader& json, Parse&& parse) {
  try {
    return parse(json.text());
  } catch (const FormatError& error) {
    json.fail(error.what());
  }
}

DType read_dtype(const JsonReader& json) {
  return read_by(json, parse_dtype);
}

/// The enumerator of that name, of those up to `last`.
template <typename Enum>
Enum read_named(const JsonReader& json, Enum last) {
  std::string known;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view name = name_of(static_cast<Enum>(i));
    if (name == json.text()) return static_cast<Enum>(i);
    known += (i == 0 ? "" : ", ") + std::string(name);
  }
  json.fail(fmt::format("unknown '{}'; known are {}", json.text(), known));
}

SymbolValues read_symbols(const JsonReader& json) {
  SymbolValues symbols;
  const std::vector<std::string> names = json.keys();
  const std::vector<JsonReader> samples = json.elements();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_symbol_name(names[i])) samples[i].fail("a symbol is a letter or _, then letters, digits and _, at most 64");
    symbols[names[i]] = samples[i].integer(1, kMaxElements);
  }
  return symbols;
}

/// The expression's value with the samples; a hole at `place` keeps the expression. To be called by ascending place.
std::int64_t add_hole(Graph& graph, const Place& place, Expression expression, const JsonReader& json) {
  for (const std::string& name : expression.symbols())
    if (!graph.symbols.contains(name)) json.fail(fmt::format("'{}' is not among the graph's \"symbols\"", name));
  const std::optional<std::int64_t> sample = expression.evaluate(graph.symbols);
  if (const std::string fault = range_fault(place.field, sample); !fault.empty())
    json.fail(fmt::format("{} {}, with the samples", to_string(expression), fault));
  if (!expression.is_constant()) graph.holes.push_back({place, std::move(expression)});
  return *sample;
}

std::int64_t read_size(const JsonReader& json, Graph& graph, const Place& place) {
  if (!json.value().is_string()) return json.integer(0, kMaxElements);
  return add_hole(graph, place, read_by(json, Expression::parse), json);
}

Extents read_extents(const JsonReader& json, Graph& graph, const Holder& holder, Place::Field field) {
  if (!json.value().is_array()) return json.integers();  // says what is expected
  const std::vector<JsonReader> elements = json.elements();
  if (elements.size() > kMaxRank) json.fail(fmt::format("rank {} is above the limit of {}", elements.size(), kMaxRank));
  Extents extents;
  for (const JsonReader& element : elements)
    extents.push_back(read_size(element, graph, {holder, field, static_cast<int>(extents.size())}));
  return extents;
}

ValueId read_value_id(const JsonReader& json, const Graph& graph) {
  return static_cast<ValueId>(json.integer(0, static_cast<std::int64_t>(graph.values.size()) - 1));
}

/// The view of the whole tensor, with its expressions.
View show_whole(Graph& graph, const Holder& holder, ValueId value) {
  const Holder tensor{.kind = Holder::Kind::tensor, .index = value};
  const auto [first, last] =
      std::ranges::equal_range(graph.holes, tensor, {}, [](const Hole& hole) { return hole.where.holder; });
  const std::vector<Hole> holes(first, last);
  for (const Hole& hole : holes) graph.holes.push_back({{holder, hole.where.field, hole.where.dim}, hole.expression});
  return View::whole(graph.value(value).tensor);
}

std::pair<ValueId, View> read_edge(const JsonReader& json, Graph& graph, const Holder& holder) {
  std::vector<JsonReader> parts = json.elements();
  if (!json.value().is_array() || (parts.size() != 1 && parts.size() != 4))
    json.fail("an edge is [value] or [value, offset, sizes, strides]");
  ValueId value = read_value_id(parts[0], graph);
  if (parts.size() == 1) return {value, show_whole(graph, holder, value)};
  View view;
  view.offset = read_size(parts[1], graph, {holder, Place::Field::offset, 0});
  view.sizes = read_extents(parts[2], graph, holder, Place::Field::size);
  view.strides = read_extents(parts[3], graph, holder, Place::Field::stride);
  return {value, std::move(view)};
}

/// Of a value with symbolic sizes: expressions for strides that the file leaves out.
void add_dense_strides(Graph& graph, const Holder& holder, const Extents& shape, const JsonReader& json) {
  std::vector<Expression> strides = symbolic(graph, holder, {.sizes = shape}).sizes;
  try {
    strides = dense_strides(strides);
  } catch (const FormatError& error) {
    json.fail(fmt::format("its strides have {}", error.what()));
  }
  for (std::size_t d = 0; d < strides.size(); ++d)
    if (!strides[d].is_constant())
      add_hole(graph, {holder, Place::Field::stride, static_cast<int>(d)}, strides[d], json);
}

Value read_value(const JsonReader& json, Graph& graph) {
  const Holder holder{.kind = Holder::Kind::tensor, .index = static_cast<int>(graph.values.size())};
  json.only_fields({"name", "dtype", "shape", "strides", "device", "mutates"});
  Value value;
  value.name = json.field("name").text();
  value.tensor.dtype = read_dtype(json.field("dtype"));
  Extents shape = read_extents(json.field("shape"), graph, holder, Place::Field::size);
  // Before verify() sees the sizes: dense strides must not overflow.
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (size > 0 && count > kMaxElements / size) json.field("shape").fail("too many elements");
    count *= std::max<std::int64_t>(size, 1);
  }
  std::optional<JsonReader> strides = json.optional_field("strides");
  value.tensor.strides =
      strides ? read_extents(*strides, graph, holder, Place::Field::stride) : contiguous_strides(shape);
  if (!strides && has_holes(graph, holder)) add_dense_strides(graph, holder, shape, json.field("shape"));
  value.tensor.shape = std::move(shape);
  if (std::optional<JsonReader> device = json.optional_field("device"))
    value.tensor.device = read_by(*device, parse_device);
  return value;
}

Ref read_ref(const JsonReader& json) {
  if (json.value().is_number()) return Ref::constant(json.number());
  const std::string& text = json.text();
  if (text == "acc") return Ref::accumulator();
  if (text.size() > 1 && (text[0] == '%' || text[0] == 's')) {
    int index = 0;
    auto [end, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
    if (fault == std::errc{} && end == text.data() + text.size() && index >= 0)
      return text[0] == '%' ? Ref::operand(index) : Ref::step(index);
  }
  if (std::optional<double> number = read_float(json)) return Ref::constant(*number);
  json.fail(fmt::format("unknown argument '{}'", text));
}

Step read_step(const JsonReader& json) {
  std::vector<JsonReader> parts = json.elements();
  if (!json.value().is_array() || parts.empty()) json.fail("a step is [operation, argument..]");
  Step step;
  step.op = read_by(parts[0], parse_pointwise_op);
  auto arity = static_cast<std::size_t>(arity_of(step.op));
  bool rounds = step.op == PointwiseOp::round;
  std::size_t wanted = arity + (rounds ? 2 : 1);
  if (parts.size() != wanted)
    json.fail(fmt::format("{} entries where {} takes {}", parts.size(), name_of(step.op), wanted));
  for (std::size_t a = 0; a < arity; ++a) step.args.push_back(read_ref(parts[a + 1]));
  if (rounds) step.dtype = read_dtype(parts.back());
  return step;
}

PointwiseBody read_body(const JsonReader& json) {
  json.only_fields({"steps", "results"});
  PointwiseBody body;
  for (const JsonReader& step : json.field("steps").elements()) body.steps.push_back(read_step(step));
  for (std::int64_t result : json.field("results").integers(0, kMaxCount))
    body.results.push_back(static_cast<int>(result));
  return body;
}

Attribute read_attribute(const JsonReader& json) {
  const Json& value = json.value();
  if (value.is_boolean()) return json.boolean();
  if (value.is_number_integer()) return json.integer();
  if (value.is_number()) return json.number();
  if (value.is_string()) return json.text();
  if (!value.is_object()) return json.integers();
  if (std::optional<double> number = read_float(json.field("float"))) return *number;
  json.fail("unknown float");
}

std::vector<int> read_dims(const JsonReader& json, std::int64_t least) {
  std::vector<int> dims;
  for (std::int64_t dim : json.integers(least, kMaxCount)) dims.push_back(static_cast<int>(dim));
  return dims;
}

Call read_call(const JsonReader& json) {
  constexpr std::string_view kArgument = "argument.";
  Call call;
  std::vector<std::string> keys = json.keys();
  std::vector<JsonReader> members = json.elements();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i] == "target")
      call.target = members[i].text();
    else if (keys[i] == "text")
      call.text = members[i].text();
    else if (keys[i] == "why")
      call.why = members[i].text();
    else if (keys[i] == "own_operands")
      call.own_operands = static_cast<int>(members[i].integer(0, kMaxCount));
    else if (keys[i].starts_with(kArgument))
      call.arguments[keys[i].substr(kArgument.size())] = read_attribute(members[i]);
    else
      json.fail(
          fmt::format("unknown attribute '{}'; known are target, text, why, own_operands, argument.NAME", keys[i]));
  }
  return call;
}

Details read_details(Family family, const JsonReader& node) {
  const std::optional<JsonReader> json = node.optional_field("attributes");
  const bool has_details = family >= Family::reduce && family != Family::copy;
  if (!json && has_details) node.fail(fmt::format("{} needs attributes", name_of(family)));
  if (!has_details) {
    if (json) json->fail(fmt::format("{} has no attributes", node.field("op").text()));
    return {};
  }
  switch (family) {
    case Family::reduce: {
      json->only_fields({"kind", "dims", "keep"});
      const std::optional<JsonReader> keep = json->optional_field("keep");
      return Reduce{.kind = read_named(json->field("kind"), Reduction::argmin),
                    .dims = read_dims(json->field("dims"), 0),
                    .keep = keep && keep->boolean()};
    }
    case Family::gather:
      json->only_fields({"coordinates"});
      return Gather{.coordinates = read_dims(json->field("coordinates"), -kMaxCount)};
    case Family::scatter:
      json->only_fields({"kind", "coordinates"});
      return Scatter{.kind = read_named(json->field("kind"), ScatterKind::amin),
                     .coordinates = read_dims(json->field("coordinates"), -kMaxCount)};
    case Family::scan:
      json->only_fields({"kind", "dim"});
      return Scan{.kind = read_named(json->field("kind"), ScanKind::logsumexp),
                  .dim = static_cast<int>(json->field("dim").integer(0, kMaxRank))};
    default:
      return read_call(*json);
  }
}

Node read_node(const JsonReader& json, Graph& graph) {
  json.only_fields({"op", "name", "operands", "outputs", "attributes", "body", "source"});
  Node node;
  const JsonReader op = json.field("op");
  const std::optional<PointwiseOp> plain = find_pointwise_op(op.text());
  if (plain == PointwiseOp::round) op.fail("round needs a type: a step of a body has one");
  node.family = plain ? Family::pointwise : read_named(op, Family::call);
  node.name = json.field("name").text();
  Holder holder{.kind = Holder::Kind::operand, .index = static_cast<int>(graph.nodes.size())};
  for (const JsonReader& edge : json.field("operands").elements()) {
    holder.operand = static_cast<int>(node.operands.size());
    auto [value, view] = read_edge(edge, graph, holder);
    node.operands.push_back({value, std::move(view)});
  }
  for (const JsonReader& output : json.field("outputs").elements())
    node.outputs.push_back(read_value_id(output, graph));
  node.details = read_details(node.family, json);
  if (plain) node.body = plain_body(*plain);
  if (std::optional<JsonReader> body = json.optional_field("body")) {
    if (plain) body->fail(fmt::format("{} stands for its body", op.text()));
    node.body = read_body(*body);
  }
  if (std::optional<JsonReader> source = json.optional_field("source")) node.source = source->text();
  return node;
}

void add_node(Graph& graph, Node node, const JsonReader& json) {
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    Value& value = graph.values[static_cast<std::size_t>(node.outputs[k])];
    if (value.producer != -1) json.fail(fmt::format("value '{}' has two producers", value.name));
    value.producer = static_cast<NodeId>(graph.nodes.size());
    value.output_index = static_cast<int>(k);
  }
  graph.nodes.push_back(std::move(node));
}

}  // namespace

Graph from_json(const std::string& text) {
  Json document = parse_json(text, "graph");
  JsonReader json(document, "graph");
  std::optional<JsonReader> version = json.optional_field("megakittens_graph");
  if (!version) json.fail("this is not a megakittens graph: field 'megakittens_graph' is missing");
  if (version->integer() != kGraphVersion)
    version->fail(fmt::format("version {}, this build reads version {}: capture or build the graph again",
                              version->integer(), kGraphVersion));
  json.only_fields({"megakittens_graph", "name", "symbols", "values", "inputs", "nodes", "outputs"});
  Graph graph;
  graph.name = json.field("name").text();
  const std::optional<JsonReader> symbols = json.optional_field("symbols");
  if (symbols) graph.symbols = read_symbols(*symbols);
  std::vector<JsonReader> values = json.field("values").elements();
  for (const JsonReader& value : values) graph.values.push_back(read_value(value, graph));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::optional<JsonReader> edge = values[i].optional_field("mutates")) {
      auto [of, view] = read_edge(*edge, graph, {.kind = Holder::Kind::mutation, .index = static_cast<int>(i)});
      graph.values[i].mutation = Mutation{of, std::move(view)};
    }
  for (const JsonReader& input : json.field("inputs").elements()) graph.inputs.push_back(read_value_id(input, graph));
  for (const JsonReader& node : json.field("nodes").elements()) add_node(graph, read_node(node, graph), node);
  for (const JsonReader& output : json.field("outputs").elements()) {
    auto [value, view] =
        read_edge(output, graph, {.kind = Holder::Kind::output, .index = static_cast<int>(graph.outputs.size())});
    graph.outputs.push_back({value, std::move(view)});
  }
  std::set<std::string> used;
  for (const Hole& hole : graph.holes) used.merge(hole.expression.symbols());
  for (const auto& [name, sample] : graph.symbols)
    if (!used.contains(name)) symbols->field(name).fail("no size uses this symbol");
  verify(graph);
  return graph;
}

}  // namespace megakittens::ir
