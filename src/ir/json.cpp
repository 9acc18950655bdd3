// The .mkg.json form. Version 2, compact: defaults (dense strides, whole views, any device) are left out.
//   graph    {"megakittens_graph": 2, "name", "symbols"?: {name: sample}, "values", "inputs", "nodes", "outputs"}
//   sizes    an entry of shape, strides, or sizes, or an offset is an integer, or an expression over the symbols:
//            "2*s0 + 3"
//   value    {"name", "dtype", "shape", "strides"?, "device"?, "mutates"?: edge}; producers follow from the nodes
//   device   "cpu", "cuda", or of several "cuda:1"
//   edge     [value] for the whole tensor, or [value, offset, sizes, strides]
//   node     {"op", "name", "operands": [edge..], "outputs": [value..], "attributes"?, "body"?, "source"?}
//   op       a pointwise operation over the operands in order, or a family: "pointwise" with a body, "matmul",
//   "reduce",
//            "gather", "scatter", "scan", "copy", "call"
//   body     {"steps": [[operation, argument..]..], "results"}; an argument is "%0" (operand), "s0" (step), "acc", or a
//            number; round ends with its dtype; numbers that JSON lacks are "inf", "-inf", "nan"
//   attributes: reduce {"kind", "dims", "keep"?}, gather {"coordinates"}, scatter {"kind", "coordinates"}, scan
//   {"kind",
//            "dim"}, call {"target", "text"?, "why"?, "own_operands"?, "argument.NAME"..}; arguments are JSON's own
//            types; a float that JSON lacks is {"float": "inf"}
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

Json integer_to_json(const Graph& graph, const Place& place, std::int64_t integer) {
  if (const Expression* expression = expression_at(graph, place)) return to_string(*expression);
  return integer;
}

Json extents_to_json(const Graph& graph, const Holder& holder, Place::Field field, const Extents& extents) {
  Json json = Json::array();
  for (std::size_t d = 0; d < extents.size(); ++d)
    json.push_back(integer_to_json(graph, {holder, field, static_cast<int>(d)}, extents[d]));
  return json;
}

Json edge_to_json(const Graph& graph, ValueId value, const View& view, const Holder& holder) {
  Json edge = Json::array({value});
  if (value >= 0 && value < static_cast<ValueId>(graph.values.size()) && is_whole(graph, holder, view, value))
    return edge;
  edge.push_back(integer_to_json(graph, {holder, Place::Field::offset, 0}, view.offset));
  edge.push_back(extents_to_json(graph, holder, Place::Field::size, view.sizes));
  edge.push_back(extents_to_json(graph, holder, Place::Field::stride, view.strides));
  return edge;
}

Json value_to_json(const Graph& graph, const Value& value) {
  const auto id = static_cast<ValueId>(&value - graph.values.data());
  const Holder holder{.kind = Holder::Kind::tensor, .index = id};
  Json json{{"name", value.name},
            {"dtype", name_of(value.tensor.dtype)},
            {"shape", extents_to_json(graph, holder, Place::Field::size, value.tensor.shape)}};
  if (!is_dense(graph, id))
    json["strides"] = extents_to_json(graph, holder, Place::Field::stride, value.tensor.strides);
  if (value.tensor.device != Device{}) json["device"] = to_string(value.tensor.device);
  if (value.mutation)
    json["mutates"] =
        edge_to_json(graph, value.mutation->of, value.mutation->view, {.kind = Holder::Kind::mutation, .index = id});
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

Json details_to_json(const Details& details) {
  Json json = Json::object();
  if (const auto* reduce = std::get_if<Reduce>(&details)) {
    json = {{"kind", name_of(reduce->kind)}, {"dims", reduce->dims}};
    if (reduce->keep) json["keep"] = true;
  } else if (const auto* gather = std::get_if<Gather>(&details)) {
    json = {{"coordinates", gather->coordinates}};
  } else if (const auto* scatter = std::get_if<Scatter>(&details)) {
    json = {{"kind", name_of(scatter->kind)}, {"coordinates", scatter->coordinates}};
  } else if (const auto* scan = std::get_if<Scan>(&details)) {
    json = {{"kind", name_of(scan->kind)}, {"dim", scan->dim}};
  } else if (const auto* call = std::get_if<Call>(&details)) {
    json = {{"target", call->target}};
    if (!call->text.empty()) json["text"] = call->text;
    if (!call->why.empty()) json["why"] = call->why;
    if (call->own_operands != 0) json["own_operands"] = call->own_operands;
    for (const auto& [key, argument] : call->arguments) json["argument." + key] = attribute_to_json(argument);
  }
  return json;
}

Json node_to_json(const Graph& graph, const Node& node) {
  Json json{{"op", op_of(node)}, {"name", node.name}, {"operands", Json::array()}, {"outputs", node.outputs}};
  const auto number = static_cast<NodeId>(&node - graph.nodes.data());
  for (std::size_t i = 0; i < node.operands.size(); ++i)
    json["operands"].push_back(
        edge_to_json(graph, node.operands[i].value, node.operands[i].view,
                     {.kind = Holder::Kind::operand, .index = number, .operand = static_cast<int>(i)}));
  if (Json details = details_to_json(node.details); !details.empty()) json["attributes"] = std::move(details);
  if (node.body && !plain_op(node)) json["body"] = body_to_json(*node.body);
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
  if (!graph.symbols.empty()) text += fmt::format(" \"symbols\": {},\n", dump(graph.symbols));
  text +=
      fmt::format(" \"values\": [{}],\n", lines(graph.values, [&](const Value& v) { return value_to_json(graph, v); }));
  text += fmt::format(" \"inputs\": {},\n", dump(graph.inputs));
  text += fmt::format(" \"nodes\": [{}],\n", lines(graph.nodes, [&](const Node& n) { return node_to_json(graph, n); }));
  text += fmt::format(" \"outputs\": [{}]}}\n", lines(graph.outputs, [&](const Operand& output) {
                        const auto number = static_cast<int>(&output - graph.outputs.data());
                        return edge_to_json(graph, output.value, output.view,
                                            {.kind = Holder::Kind::output, .index = number});
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
