// From .mkg.json to a graph; the form is described in ir/json.cpp.
#include <charconv>
#include <limits>

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

Extents read_extents(const JsonReader& json) {
  Extents extents = json.integers(0, kMaxElements);
  if (extents.size() > kMaxRank) json.fail(fmt::format("rank {} is above the limit of {}", extents.size(), kMaxRank));
  return extents;
}

ValueId read_value_id(const JsonReader& json, const Graph& graph) {
  return static_cast<ValueId>(json.integer(0, static_cast<std::int64_t>(graph.values.size()) - 1));
}

std::pair<ValueId, View> read_edge(const JsonReader& json, const Graph& graph) {
  std::vector<JsonReader> parts = json.elements();
  if (!json.value().is_array() || (parts.size() != 1 && parts.size() != 4))
    json.fail("an edge is [value] or [value, offset, sizes, strides]");
  ValueId value = read_value_id(parts[0], graph);
  if (parts.size() == 1) return {value, View::whole(graph.value(value).tensor)};
  return {value, {parts[1].integer(0, kMaxElements), read_extents(parts[2]), read_extents(parts[3])}};
}

Value read_value(const JsonReader& json) {
  json.only_fields({"name", "dtype", "shape", "strides", "device", "mutates"});
  Value value;
  value.name = json.field("name").text();
  value.tensor.dtype = read_dtype(json.field("dtype"));
  Extents shape = read_extents(json.field("shape"));
  // Before verify() sees the sizes: dense strides must not overflow.
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (size > 0 && count > kMaxElements / size) json.field("shape").fail("too many elements");
    count *= std::max<std::int64_t>(size, 1);
  }
  std::optional<JsonReader> strides = json.optional_field("strides");
  value.tensor.strides = strides ? read_extents(*strides) : contiguous_strides(shape);
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
    else if (keys[i].starts_with(kArgument))
      call.arguments[keys[i].substr(kArgument.size())] = read_attribute(members[i]);
    else
      json.fail(fmt::format("unknown attribute '{}'; known are target, text, why, argument.NAME", keys[i]));
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

Node read_node(const JsonReader& json, const Graph& graph) {
  json.only_fields({"op", "name", "operands", "outputs", "attributes", "body", "source"});
  Node node;
  const JsonReader op = json.field("op");
  const std::optional<PointwiseOp> plain = find_pointwise_op(op.text());
  if (plain == PointwiseOp::round) op.fail("round needs a type: a step of a body has one");
  node.family = plain ? Family::pointwise : read_named(op, Family::call);
  node.name = json.field("name").text();
  for (const JsonReader& edge : json.field("operands").elements()) {
    auto [value, view] = read_edge(edge, graph);
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
  json.only_fields({"megakittens_graph", "name", "values", "inputs", "nodes", "outputs"});
  Graph graph;
  graph.name = json.field("name").text();
  std::vector<JsonReader> values = json.field("values").elements();
  for (const JsonReader& value : values) graph.values.push_back(read_value(value));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::optional<JsonReader> edge = values[i].optional_field("mutates")) {
      auto [of, view] = read_edge(*edge, graph);
      graph.values[i].mutation = Mutation{of, std::move(view)};
    }
  for (const JsonReader& input : json.field("inputs").elements()) graph.inputs.push_back(read_value_id(input, graph));
  for (const JsonReader& node : json.field("nodes").elements()) add_node(graph, read_node(node, graph), node);
  for (const JsonReader& output : json.field("outputs").elements()) {
    auto [value, view] = read_edge(output, graph);
    graph.outputs.push_back({value, std::move(view)});
  }
  verify(graph);
  return graph;
}

}  // namespace megakittens::ir
