// A PyTorch FX graph as plain data, as the Python side writes it (fx/json.cpp describes the form).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/tensor.hpp"

namespace megakittens::frontend::fx {

/// Another node's result; its position in Module::nodes, always an earlier one.
struct NodeRef {
  int index = -1;
};
/// A dtype, device, or any other object that only has a text.
struct Named {
  enum class Kind : std::uint8_t { dtype, device, other };
  Kind kind = Kind::other;
  std::string text;
};

struct Argument;
using List = std::vector<Argument>;
struct DictItem;
using Dict = std::vector<DictItem>;

/// What a node is called with: None is std::monostate.
struct Argument {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, NodeRef, Named, List, Dict> value;

  bool is_none() const { return std::holds_alternative<std::monostate>(value); }
  template <typename T>
  const T* get() const {
    return std::get_if<T>(&value);
  }
};

struct DictItem {
  std::string first;
  Argument second;
};

/// Calls `visit(NodeRef)` for every node in the argument, however nested.
template <typename Visit>
void for_each_node(const Argument& argument, Visit&& visit) {
  if (const auto* ref = argument.get<NodeRef>()) visit(*ref);
  if (const auto* list = argument.get<List>())
    for (const Argument& item : *list) for_each_node(item, visit);
  if (const auto* dict = argument.get<Dict>())
    for (const auto& [key, item] : *dict) for_each_node(item, visit);
}

/// "%add, 2, alpha": for people.
std::string to_string(const Argument& argument, const struct Module& module);

/// dtype is ours where we have it ("bf16"), else PyTorch's name ("float64").
struct TensorMeta {
  std::string dtype;
  ir::Extents shape;
  ir::Extents strides;
  std::string device;       ///< "cpu" or "cuda:0"
  std::int64_t offset = 0;  ///< in elements from the start of its storage
};

enum class OpKind : std::uint8_t { placeholder, get_attr, call_function, call_method, call_module, output };

struct Node {
  OpKind op = OpKind::call_function;
  std::string name;
  /// "aten.mm.default", "torch.relu", "relu" (a method), "torch.nn.modules.activation.ReLU" (a module's class).
  std::string target;
  List args;
  std::map<std::string, Argument> kwargs;
  /// One entry a result; no value where the result is not a tensor.
  std::vector<std::optional<TensorMeta>> results;
  /// The node gives a tuple or list, even of one.
  bool is_tuple = false;
  std::string source;
  /// Placeholders: the user's name for it ("W", "self.fc1.weight").
  std::string label;
  /// Placeholders: a parameter or buffer, the same tensor in every call.
  bool is_static = false;
  /// Constants: the number, where the tensor holds one.
  std::optional<double> number;
  /// The output node: which results the caller will take from his own tensors instead (they alias an input).
  std::vector<std::int64_t> aliases;
};

struct Module {
  std::string name;
  std::vector<Node> nodes;
};

/// Throws FormatError naming the JSON path.
Module from_json(const std::string& text);

/// Visits the nodes among a node's arguments.
template <typename Visit>
void for_each_input(const Node& node, Visit&& visit) {
  for (const Argument& argument : node.args) for_each_node(argument, visit);
  for (const auto& [key, argument] : node.kwargs) for_each_node(argument, visit);
}

}  // namespace megakittens::frontend::fx
