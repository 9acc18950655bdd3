// From .mkg.json to a graph; the form is described in ir/json.cpp.
#include <charconv>
#include <limits>

#include "ir/json_reader.hpp"

namespace megakittens::ir {
namespace {

constexpr std::int64_t kMaxCount = std::int64_t{1} << 24;

std::pair<ValueId, View> read_edge(const JsonReader& json, const Graph& graph) {
  if (json.size() != 1 && json.size() != 4) json.fail("an edge is [value] or [value, offset, sizes, strides]");
  std::int64_t last = static_cast<std::int64_t>(graph.values.size()) - 1;
  auto value = static_cast<ValueId>(json.entry(0).integer(0, last));
  if (json.size() == 1) return {value, View::whole(graph.value(value).tensor)};
  return {value, {json.entry(1).integer(), json.entry(2).extents(), json.entry(3).extents()}};
}

Value read_value(const JsonReader& json) {
  Value value;
  value.name = json.at("name").string();
  Extents shape = json.at("shape").extents();
  value.tensor.dtype = json.at("dtype").dtype();
  for (std::size_t i = 0; i < shape.size(); ++i) json.at("shape").entry(i).integer(0, std::int64_t{1} << 48);
  // Before verify() has seen the sizes: dense strides must not overflow.
  std::int64_t count = 1;
  for (std::int64_t size : shape) {
    if (size > 0 && count > (std::int64_t{1} << 48) / size) json.at("shape").fail("too many elements");
    count *= std::max<std::int64_t>(size, 1);
  }
  value.tensor.strides = json.has("strides") ? json.at("strides").extents() : contiguous_strides(shape);
  value.tensor.shape = std::move(shape);
  if (json.has("device")) {
    std::string device = json.at("device").string();
    if (device != "cpu" && device != "cuda") json.at("device").fail(fmt::format("unknown device '{}'", device));
    value.tensor.device = device == "cpu" ? DeviceKind::cpu : DeviceKind::cuda;
  }
  return value;
}

Ref read_ref(const JsonReader& json) {
  if (json.json().is_number()) return Ref::constant(json.number());
  std::string text = json.string();
  if (text == "acc") return Ref::accumulator();
  if (text.size() > 1 && (text[0] == '%' || text[0] == 's')) {
    int index = 0;
    auto [end, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), index);
    if (fault == std::errc{} && end == text.data() + text.size() && index >= 0)
      return text[0] == '%' ? Ref::operand(index) : Ref::step(index);
  }
  if (text == "inf" || text == "-inf" || text == "nan") return Ref::constant(json.number());
  json.fail(fmt::format("unknown argument '{}'", text));
}

PointwiseBody read_body(const JsonReader& json) {
  PointwiseBody body;
  JsonReader steps = json.at("steps");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    JsonReader line = steps.entry(i);
    Step step;
    try {
      step.op = parse_pointwise_op(line.entry(0).string());
    } catch (const FormatError& error) {
      line.fail(error.what());
    }
    bool rounds = step.op == PointwiseOp::round;
    std::size_t wanted = static_cast<std::size_t>(arity_of(step.op)) + 1 + (rounds ? 1 : 0);
    if (line.size() != wanted) line.fail(fmt::format("{} entries, {} needed", line.size(), wanted));
    for (int a = 0; a < arity_of(step.op); ++a)
      step.args.push_back(read_ref(line.entry(static_cast<std::size_t>(a) + 1)));
    if (rounds) step.dtype = line.entry(wanted - 1).dtype();
    body.steps.push_back(std::move(step));
  }
  JsonReader results = json.at("results");
  for (std::size_t i = 0; i < results.size(); ++i)
    body.results.push_back(static_cast<int>(results.entry(i).integer(0, kMaxCount)));
  return body;
}

Attribute read_attribute(const JsonReader& json) {
  const Json& value = json.json();
  if (value.is_boolean()) return json.boolean();
  if (value.is_number_integer()) return json.integer();
  if (value.is_number()) return json.number();
  if (value.is_string()) return json.string();
  if (value.is_object()) return json.at("float").number();
  return json.integers();
}

Node read_node(const JsonReader& json, const Graph& graph) {
  Node node;
  node.op = json.at("op").string();
  node.name = json.at("name").string();
  JsonReader operands = json.at("operands");
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto [value, view] = read_edge(operands.entry(i), graph);
    node.operands.push_back({value, std::move(view)});
  }
  JsonReader outputs = json.at("outputs");
  std::int64_t last = static_cast<std::int64_t>(graph.values.size()) - 1;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    node.outputs.push_back(static_cast<ValueId>(outputs.entry(i).integer(0, last)));
  if (json.has("attributes"))
    for (const auto& [key, member] : json.at("attributes").members()) node.attributes[key] = read_attribute(member);
  if (json.has("body")) node.body = read_body(json.at("body"));
  if (json.has("source")) node.source = json.at("source").string();
  return node;
}

}  // namespace

Graph from_json(const std::string& text) {
  Json document = parse_json(text, "the graph");
  JsonReader json(document, "");
  if (!json.has("megakittens_graph"))
    throw FormatError("this is not a megakittens graph: 'megakittens_graph' is missing");
  if (std::int64_t version = json.at("megakittens_graph").integer(); version != kGraphVersion)
    throw FormatError(fmt::format("the graph has version {}, this build reads version {}", version, kGraphVersion));
  Graph graph;
  graph.name = json.at("name").string();
  JsonReader values = json.at("values");
  for (std::size_t i = 0; i < values.size(); ++i) graph.values.push_back(read_value(values.entry(i)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!values.entry(i).has("mutates")) continue;
    auto [of, view] = read_edge(values.entry(i).at("mutates"), graph);
    graph.values[i].mutation = Mutation{of, std::move(view)};
  }
  std::int64_t last = static_cast<std::int64_t>(graph.values.size()) - 1;
  JsonReader inputs = json.at("inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    graph.inputs.push_back(static_cast<ValueId>(inputs.entry(i).integer(0, last)));
  JsonReader nodes = json.at("nodes");
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Node node = read_node(nodes.entry(n), graph);
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      Value& value = graph.values[static_cast<std::size_t>(node.outputs[k])];
      if (value.producer != -1) nodes.entry(n).fail(fmt::format("value '{}' has two producers", value.name));
      value.producer = static_cast<NodeId>(n);
      value.output_index = static_cast<int>(k);
    }
    graph.nodes.push_back(std::move(node));
  }
  JsonReader outputs = json.at("outputs");
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto [value, view] = read_edge(outputs.entry(i), graph);
    graph.outputs.push_back({value, std::move(view)});
  }
  if (json.has("metadata"))
    for (const auto& [key, member] : json.at("metadata").members()) graph.metadata[key] = member.string();
  verify(graph);
  return graph;
}

}  // namespace megakittens::ir
