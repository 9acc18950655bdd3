#include "frontend/resolvers.hpp"

#include <fmt/ranges.h>

#include "frontend/prune.hpp"

namespace megakittens::frontend {

const ResolverTable& resolvers() {
  static const ResolverTable table = [] {
    ResolverTable made;
    add_view_resolvers(made);
    add_constant_resolvers(made);
    add_pointwise_resolvers(made);
    add_product_resolvers(made);
    add_mutation_resolvers(made);
    return made;
  }();
  return table;
}

std::vector<int> kept_results(std::string_view target) {
  // Statistics for the backward pass, random states, and log-sums are not computed in inference.
  for (std::string_view name :
       {"aten._fused_rms_norm.default", "aten.native_layer_norm.default", "aten.native_group_norm.default",
        "aten._scaled_dot_product_flash_attention.default", "aten._scaled_dot_product_efficient_attention.default",
        "aten._scaled_dot_product_cudnn_attention.default", "aten._scaled_dot_product_flash_attention_for_cpu.default"})
    if (target == name) return {0};
  return {};
}

void keep_argument(ir::Call& call, const std::string& name, const fx::Argument& argument) {
  if (const auto* flag = argument.get<bool>()) call.arguments[name] = *flag;
  if (const auto* whole = argument.get<std::int64_t>()) call.arguments[name] = *whole;
  if (const auto* real = argument.get<double>()) call.arguments[name] = *real;
  if (const auto* text = argument.get<std::string>()) call.arguments[name] = *text;
  if (const auto* list = argument.get<fx::List>(); list != nullptr && !list->empty()) {
    std::vector<std::int64_t> numbers;
    for (const fx::Argument& item : *list)
      if (const auto* number = item.get<std::int64_t>()) numbers.push_back(*number);
    if (numbers.size() == list->size()) call.arguments[name] = numbers;
  }
}

Results make_call(const Call& call, const std::string& why) {
  Context& context = call.context();
  const fx::Node& source = call.node();
  ir::Call details{.target = source.target, .why = why};
  std::vector<std::string> arguments;
  for (const fx::Argument& argument : source.args) arguments.push_back(to_string(argument, context.module()));
  for (const auto& [key, argument] : source.kwargs)
    arguments.push_back(key + "=" + to_string(argument, context.module()));
  details.text = fmt::format("{}", fmt::join(arguments, ", "));
  for (std::size_t i = 0; i < source.args.size(); ++i) keep_argument(details, std::to_string(i), source.args[i]);
  for (const auto& [key, argument] : source.kwargs) keep_argument(details, key, argument);
  ir::Node node{.family = ir::Family::call, .details = std::move(details)};

  std::vector<TensorSymbol> operands;
  fx::for_each_input(source, [&](fx::NodeRef ref) {
    for (const Symbol& symbol : context.results(ref.index))
      if (!std::holds_alternative<std::monostate>(symbol))
        operands.push_back(context.materialise(call.index(), symbol));
  });
  for (const TensorSymbol& operand : operands) node.operands.push_back(context.operand(operand));

  std::vector<int> kept = kept_results(call.target());
  std::vector<ir::Tensor> tensors;
  std::vector<std::optional<Destination>> written;
  std::vector<std::size_t> places;
  for (std::size_t k = 0; k < source.results.size(); ++k) {
    bool is_kept = kept.empty() || std::find(kept.begin(), kept.end(), static_cast<int>(k)) != kept.end();
    if (!source.results[k] || !is_kept) continue;
    ir::Tensor made = tensor_of(*source.results[k], "the result of '" + source.target + "'", source.source);
    bool in_place = tensors.empty() && has_effect(call.target()) && !operands.empty();
    written.push_back(in_place ? std::optional(Destination{operands[0].root, operands[0].view}) : std::nullopt);
    tensors.push_back(in_place ? context.graph().value(operands[0].root).tensor
                               : ir::Tensor::dense(made.dtype, made.shape));
    places.push_back(k);
  }
  Results results(source.results.size());
  // A call without any tensor result has nothing that a graph could show.
  if (tensors.empty()) return results;
  std::vector<TensorSymbol> shown = context.add_node(call.index(), std::move(node), tensors, written);
  for (std::size_t i = 0; i < shown.size(); ++i) results[places[i]] = shown[i];
  return results;
}

}  // namespace megakittens::frontend
