#include "frontend/from_fx.hpp"

#include <fmt/format.h>

#include "frontend/context.hpp"
#include "frontend/prune.hpp"
#include "frontend/resolvers.hpp"
#include "support/error.hpp"
#include "support/json.hpp"

namespace megakittens::frontend {
namespace {

/// Placeholders and constants become inputs, with the user's name where it is known.
Results make_input(Context& context, int index) {
  const fx::Node& node = context.module().nodes[static_cast<std::size_t>(index)];
  std::string name = node.label.empty() ? node.name : node.label;
  if (node.results.size() != 1 || !node.results[0]) return {Symbol{}};
  ir::Tensor tensor = tensor_of(*node.results[0], "input '" + name + "'", node.source);
  if (node.number) return {ConstantSymbol{*node.number, tensor.dtype, tensor.shape}};
  ir::View whole = ir::View::whole(tensor);
  return {TensorSymbol{context.add_input(name, std::move(tensor)), whole}};
}

Results resolve(const Call& call) {
  std::string why;
  auto found = resolvers().find(call.target());
  if (found != resolvers().end())
    for (Resolver resolver : found->second) {
      std::string fault;
      try {
        return resolver(call);
      } catch (const NotResolved& reason) {
        fault = reason.what();
      } catch (const std::out_of_range&) {
        fault = "a dimension or result is out of range";
      }
      why += (why.empty() ? "" : "; ") + fault;
    }
  return make_call(call, why);
}

/// What the function returns, as JSON in which each tensor is the number of a graph output.
Json make_outputs(Context& context, int index, const fx::Argument& argument) {
  if (const auto* list = argument.get<fx::List>()) {
    Json items = Json::array();
    for (const fx::Argument& item : *list) items.push_back(make_outputs(context, index, item));
    return items;
  }
  if (const auto* dict = argument.get<fx::Dict>()) {
    Json members = Json::object();
    for (const auto& [key, item] : *dict) members["." + key] = make_outputs(context, index, item);
    return members;
  }
  if (const auto* flag = argument.get<bool>()) return *flag;
  if (const auto* number = argument.get<std::int64_t>()) return *number;
  if (const auto* number = argument.get<double>()) return *number;
  if (const auto* text = argument.get<std::string>()) return *text;
  const auto* ref = argument.get<fx::NodeRef>();
  if (ref == nullptr) return nullptr;
  Json items = Json::array();
  for (const Symbol& symbol : context.results(ref->index)) {
    if (std::holds_alternative<std::monostate>(symbol)) {
      items.push_back(nullptr);
      continue;
    }
    items.push_back({{"output", context.graph().outputs.size()}});
    context.graph().outputs.push_back(context.operand(context.materialise(index, symbol)));
  }
  bool is_tuple = context.module().nodes[static_cast<std::size_t>(ref->index)].is_tuple;
  return is_tuple || items.empty() ? items : items[0];
}

}  // namespace

Captured from_fx(const fx::Module& module) {
  std::vector<std::string> targets;
  for (const fx::Node& node : module.nodes) targets.push_back(canonical_target(node));
  std::vector<bool> live = live_nodes(module, targets);
  Context context(module, targets, users_of(module, live));

  Json placeholders = Json::array();
  Json statics = Json::array();
  Json outputs;
  int place = 0;
  for (int i = 0; i < static_cast<int>(module.nodes.size()); ++i) {
    const fx::Node& node = module.nodes[static_cast<std::size_t>(i)];
    bool is_placeholder = node.op == fx::OpKind::placeholder;
    if (is_placeholder) ++place;
    if (!live[static_cast<std::size_t>(i)]) continue;
    if (is_placeholder || node.op == fx::OpKind::get_attr) {
      // A placeholder that nobody reads takes no storage.
      if (is_placeholder && context.users(i).empty()) continue;
      Results results = make_input(context, i);
      if (std::holds_alternative<TensorSymbol>(results[0])) {
        if (node.is_static || !is_placeholder) statics.push_back(placeholders.size());
        placeholders.push_back(is_placeholder ? Json(place - 1) : Json(node.target));
      }
      context.set_results(i, std::move(results));
    } else if (node.op == fx::OpKind::output) {
      outputs = node.args.empty() ? Json() : make_outputs(context, i, node.args[0]);
    } else {
      context.set_results(i, resolve(Call(context, i)));
    }
  }
  ir::verify(context.graph());
  const Json layout{{"inputs", placeholders}, {"outputs", outputs}, {"static", statics}};
  return {.graph = std::move(context.graph()), .layout = layout.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace megakittens::frontend
