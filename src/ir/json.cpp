// The .mkg.json form. Version 1, compact: defaults (dense strides, whole views, any device) are left out.
//   graph    {"megakittens_graph": 1, "name", "values", "inputs", "nodes", "outputs", "metadata"?}
//   value    {"name", "dtype", "shape", "strides"?, "device"?, "mutates"?: edge}; producers follow from the nodes
//   edge     [value] for the whole tensor, or [value, offset, sizes, strides]
//   node     {"op", "name", "operands": [edge..], "outputs": [value..], "attributes"?, "body"?, "source"?}
//   body     {"steps": [[op, argument..]..], "results"}; an argument is "%0" (operand), "s0" (step), "acc", or a
//   number;
//            round ends with its dtype; numbers that JSON lacks are "inf", "-inf", "nan"
//   attributes: JSON's own types; a float that JSON lacks is {"float": "inf"}
#include <cmath>

#include "ir/graph.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/json.hpp"

namespace megakittens::ir {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

Json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

Json edge_to_json(const Graph& graph, ValueId value, const View& view) {
  Json edge = Json::array({value});
  if (value >= 0 && value < static_cast<ValueId>(graph.values.size()) && view == View::whole(graph.value(value).tensor))
    return edge;
  edge.push_back(view.offset);
  edge.push_back(view.sizes);
  edge.push_back(view.strides);
  return edge;
}

Json value_to_json(const Graph& graph, const Value& value) {
  Json json{{"name", value.name}, {"dtype", name_of(value.tensor.dtype)}, {"shape", value.tensor.shape}};
  if (value.tensor.strides != contiguous_strides(value.tensor.shape)) json["strides"] = value.tensor.strides;
  if (value.tensor.device != DeviceKind::any) json["device"] = value.tensor.device == DeviceKind::cpu ? "cpu" : "cuda";
  if (value.mutation) json["mutates"] = edge_to_json(graph, value.mutation->of, value.mutation->view);
  return json;
}

Json ref_to_json(const Ref& ref) {
  switch (ref.kind) {
    case Ref::Kind::operand:
      return fmt::format("%{}", ref.index);
    case Ref::Kind::step:
      return fmt::format("s{}", ref.index);
    case Ref::Kind::accumulator:
      return "acc";
    case Ref::Kind::constant:
      return number_to_json(ref.value);
  }
  return nullptr;
}

Json body_to_json(const PointwiseBody& body) {
  Json steps = Json::array();
  for (const Step& step : body.steps) {
    Json line = Json::array({name_of(step.op)});
    for (const Ref& ref : step.args) line.push_back(ref_to_json(ref));
    if (step.op == PointwiseOp::round) line.push_back(name_of(step.dtype));
    steps.push_back(std::move(line));
  }
  return {{"steps", std::move(steps)}, {"results", body.results}};
}

Json attribute_to_json(const Attribute& attribute) {
  if (const auto* number = std::get_if<double>(&attribute); number != nullptr && !std::isfinite(*number))
    return {{"float", number_to_json(*number)}};
  return std::visit([](const auto& value) { return Json(value); }, attribute);
}

Json node_to_json(const Graph& graph, const Node& node) {
  Json json{{"op", node.op}, {"name", node.name}, {"operands", Json::array()}, {"outputs", node.outputs}};
  for (const Operand& operand : node.operands)
    json["operands"].push_back(edge_to_json(graph, operand.value, operand.view));
  for (const auto& [key, attribute] : node.attributes) json["attributes"][key] = attribute_to_json(attribute);
  if (node.body) json["body"] = body_to_json(*node.body);
  if (!node.source.empty()) json["source"] = node.source;
  return json;
}

template <typename Items, typename Function>
std::string lines(const Items& items, Function&& to_json_value) {
  std::string text;
  for (const auto& item : items) {
    text += text.empty() ? "\n  " : ",\n  ";
    text += to_json_value(item).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text;
}

}  // namespace

std::string to_json(const Graph& graph) {
  auto dump = [](const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); };
  std::string text = fmt::format("{{\"megakittens_graph\": {},\n \"name\": {},\n", kGraphVersion, dump(graph.name));
  text +=
      fmt::format(" \"values\": [{}],\n", lines(graph.values, [&](const Value& v) { return value_to_json(graph, v); }));
  text += fmt::format(" \"inputs\": {},\n", dump(graph.inputs));
  text += fmt::format(" \"nodes\": [{}],\n", lines(graph.nodes, [&](const Node& n) { return node_to_json(graph, n); }));
  if (!graph.metadata.empty()) text += fmt::format(" \"metadata\": {},\n", dump(graph.metadata));
  text += fmt::format(" \"outputs\": [{}]}}\n", lines(graph.outputs, [&](const Operand& output) {
                        return edge_to_json(graph, output.value, output.view);
                      }));
  return text;
}

Graph load(const std::string& path) {
  std::string text = read_file(path, kMaxFileBytes);
  try {
    return from_json(text);
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: {}", path, error.what()));
  }
}

void save(const Graph& graph, const std::string& path) {
  write_file(path, to_json(graph));
}

}  // namespace megakittens::ir
