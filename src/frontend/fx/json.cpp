// The JSON form of an FX graph, version 1:
//   module    {"megakittens_fx": 1, "name", "nodes": [node..]}
//   node      {"op": "placeholder"|"get_attr"|"call_function"|"call_method"|"call_module"|"output", "name", "target",
//              "args"?: [argument..], "kwargs"?: {name: argument}, "meta"?: tensor | [tensor|null..] | null,
//              "source"?, "label"?, "static"?: bool, "number"?, "aliases"?: [int..]}
//   argument  null, true, 2, 0.5, "text", [argument..], {"node": name}, {"float": "inf"|"-inf"|"nan"},
//             {"dtype": "bf16"}, {"device": "cuda:0"}, {"other": text}, {"dict": {key: argument}}
//   tensor    {"dtype", "shape", "strides", "device", "offset"?}
#include <fmt/ranges.h>

#include <array>
#include <limits>
#include <unordered_map>

#include "frontend/fx/module.hpp"
#include "support/error.hpp"
#include "support/json.hpp"

namespace megakittens::frontend::fx {
namespace {

constexpr int kVersion = 1;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

using Names = std::unordered_map<std::string, int>;

Argument read_argument(const JsonReader& json, const Names& names);

double read_special_float(const JsonReader& json) {
  if (json.text() == "inf") return std::numeric_limits<double>::infinity();
  if (json.text() == "-inf") return -std::numeric_limits<double>::infinity();
  if (json.text() == "nan") return std::numeric_limits<double>::quiet_NaN();
  json.fail(fmt::format("unknown float '{}'", json.text()));
}

Argument read_object(const JsonReader& json, const Names& names) {
  if (auto node = json.optional_field("node")) {
    auto found = names.find(node->text());
    if (found == names.end()) node->fail(fmt::format("no earlier node is named '{}'", node->text()));
    return {NodeRef{found->second}};
  }
  if (auto number = json.optional_field("float")) return {read_special_float(*number)};
  if (auto dtype = json.optional_field("dtype")) return {Named{Named::Kind::dtype, dtype->text()}};
  if (auto device = json.optional_field("device")) return {Named{Named::Kind::device, device->text()}};
  if (auto other = json.optional_field("other")) return {Named{Named::Kind::other, other->text()}};
  JsonReader members = json.field("dict");
  std::vector<std::string> keys = members.keys();
  std::vector<JsonReader> values = members.elements();
  Dict dict;
  for (std::size_t i = 0; i < keys.size(); ++i) dict.push_back({keys[i], read_argument(values[i], names)});
  return {std::move(dict)};
}

Argument read_argument(const JsonReader& json, const Names& names) {
  const Json& value = json.value();
  if (value.is_null()) return {};
  if (value.is_boolean()) return {json.boolean()};
  if (value.is_number_integer()) return {json.integer()};
  if (value.is_number()) return {json.number()};
  if (value.is_string()) return {json.text()};
  if (value.is_object()) return read_object(json, names);
  List list;
  for (const JsonReader& item : json.elements()) list.push_back(read_argument(item, names));
  return {std::move(list)};
}

std::optional<TensorMeta> read_tensor(const JsonReader& json) {
  if (json.value().is_null()) return std::nullopt;
  TensorMeta meta{.dtype = json.field("dtype").text(),
                  .shape = json.field("shape").integers(0, kMaxElements),
                  .strides = json.field("strides").integers(0, kMaxElements),
                  .device = json.field("device").text()};
  if (auto offset = json.optional_field("offset")) meta.offset = offset->integer(0, kMaxElements);
  if (meta.shape.size() != meta.strides.size())
    json.fail(fmt::format("{} sizes but {} strides", meta.shape.size(), meta.strides.size()));
  return meta;
}

OpKind read_kind(const JsonReader& json) {
  constexpr std::array<std::string_view, 6> kNames{"placeholder", "get_attr",    "call_function",
                                                   "call_method", "call_module", "output"};
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (json.text() == kNames[i]) return static_cast<OpKind>(i);
  json.fail(fmt::format("unknown kind '{}'; known are {}", json.text(), fmt::join(kNames, ", ")));
}

Node read_node(const JsonReader& json, const Names& names) {
  json.only_fields(
      {"op", "name", "target", "args", "kwargs", "meta", "source", "label", "static", "number", "aliases"});
  Node node;
  node.op = read_kind(json.field("op"));
  node.name = json.field("name").text();
  node.target = json.field("target").text();
  if (auto args = json.optional_field("args"))
    for (const JsonReader& item : args->elements()) node.args.push_back(read_argument(item, names));
  if (auto kwargs = json.optional_field("kwargs")) {
    std::vector<std::string> keys = kwargs->keys();
    std::vector<JsonReader> values = kwargs->elements();
    for (std::size_t i = 0; i < keys.size(); ++i)
      node.kwargs.insert_or_assign(keys[i], read_argument(values[i], names));
  }
  if (auto meta = json.optional_field("meta")) {
    node.is_tuple = meta->value().is_array();
    if (!node.is_tuple)
      node.results.push_back(read_tensor(*meta));
    else
      for (const JsonReader& item : meta->elements()) node.results.push_back(read_tensor(item));
  } else {
    node.results.emplace_back();
  }
  if (auto source = json.optional_field("source")) node.source = source->text();
  if (auto label = json.optional_field("label")) node.label = label->text();
  if (auto is_static = json.optional_field("static")) node.is_static = is_static->boolean();
  if (auto number = json.optional_field("number")) node.number = number->number();
  if (auto aliases = json.optional_field("aliases")) node.aliases = aliases->integers(0, kMaxElements);
  return node;
}

}  // namespace

Module from_json(const std::string& text) {
  Json document = parse_json(text, "FX graph");
  JsonReader json(document, "FX graph");
  JsonReader version = json.field("megakittens_fx");
  if (version.integer() != kVersion)
    version.fail(fmt::format("version {}, this build reads version {}", version.integer(), kVersion));
  Module module;
  module.name = json.field("name").text();
  Names names;
  for (const JsonReader& item : json.field("nodes").elements()) {
    Node node = read_node(item, names);
    if (!names.emplace(node.name, static_cast<int>(module.nodes.size())).second)
      item.fail(fmt::format("two nodes are named '{}'", node.name));
    module.nodes.push_back(std::move(node));
  }
  if (module.nodes.empty() || module.nodes.back().op != OpKind::output) json.fail("the last node is not an output");
  return module;
}

std::string to_string(const Argument& argument, const Module& module) {
  if (argument.is_none()) return "None";
  if (const auto* flag = argument.get<bool>()) return *flag ? "True" : "False";
  if (const auto* number = argument.get<std::int64_t>()) return fmt::format("{}", *number);
  if (const auto* number = argument.get<double>()) return fmt::format("{}", *number);
  if (const auto* text = argument.get<std::string>()) return "'" + *text + "'";
  if (const auto* ref = argument.get<NodeRef>()) return module.nodes[static_cast<std::size_t>(ref->index)].name;
  if (const auto* named = argument.get<Named>()) return named->text;
  std::vector<std::string> items;
  if (const auto* list = argument.get<List>()) {
    for (const Argument& item : *list) items.push_back(to_string(item, module));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  for (const auto& [key, item] : *argument.get<Dict>()) items.push_back(key + ": " + to_string(item, module));
  return fmt::format("{{{}}}", fmt::join(items, ", "));
}

}  // namespace megakittens::frontend::fx
