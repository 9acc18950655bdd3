// Calls whose result is one number everywhere, and copies that need not happen.
#include "frontend/resolvers.hpp"
#include "frontend/resolving.hpp"

namespace megakittens::frontend {
namespace {

Results constant(const Call& call, double value) {
  ir::DType dtype = call.result_dtype();
  return {ConstantSymbol{ir::round_to(dtype, static_cast<float>(value)), dtype, call.meta().shape}};
}

Results resolve_zeros(const Call& call) {
  return constant(call, 0);
}
Results resolve_ones(const Call& call) {
  return constant(call, 1);
}
/// full(size, value), full_like(self, value)
Results resolve_full(const Call& call) {
  return constant(call, call.number(1, "fill_value", 0));
}
Results resolve_new_full(const Call& call) {
  return constant(call, call.number(2, "fill_value", 0));
}
Results resolve_scalar_tensor(const Call& call) {
  return constant(call, call.number(0, "s", 0));
}
Results resolve_fill(const Call& call) {
  Chain chain(call);
  return chain.finish_any(chain.read(1, "value"));
}

/// clone, contiguous, copy: the tensor itself where nobody can tell, else a copy.
Results duplicate(const Call& call, std::size_t position, const char* name) {
  Context& context = call.context();
  int source = call.node_at(position, name);
  const Results& results = context.results(source);
  if (results.size() == 1 && std::holds_alternative<ConstantSymbol>(results[0]))
    return constant(call, std::get<ConstantSymbol>(results[0]).value);
  TensorSymbol symbol = call.tensor(position, name);
  symbol.view = symbol.view.broadcast_to(call.meta().shape);
  bool same_layout = call.target() == "aten.copy.default" || symbol.view.is_contiguous();
  if (context.dtype(symbol) == call.result_dtype() && same_layout && !is_observed(context, call.index(), symbol)) {
    context.set_owner(call.index(), context.owner(source));
    return {symbol};
  }
  Chain chain(call);
  return chain.finish_any(chain.step(ir::PointwiseOp::identity, {chain.read(position, name)}));
}

Results resolve_clone(const Call& call) {
  return duplicate(call, 0, "self");
}
Results resolve_copy(const Call& call) {
  return duplicate(call, 1, "src");
}

}  // namespace

void add_constant_resolvers(ResolverTable& table) {
  for (const char* name : {"zeros.default", "zero.default", "zeros_like.default", "new_zeros.default"})
    table[std::string("aten.") + name] = {resolve_zeros};
  for (const char* name : {"ones.default", "ones_like.default", "new_ones.default"})
    table[std::string("aten.") + name] = {resolve_ones};
  table["aten.full.default"] = table["aten.full_like.default"] = {resolve_full};
  table["aten.new_full.default"] = {resolve_new_full};
  table["aten.scalar_tensor.default"] = {resolve_scalar_tensor};
  table["aten.fill.Scalar"] = table["aten.fill.Tensor"] = {resolve_fill};
  for (const char* name : {"clone.default", "contiguous.default", "lift_fresh_copy.default"})
    table[std::string("aten.") + name] = {resolve_clone};
  table["aten.copy.default"] = {resolve_copy};
}

}  // namespace megakittens::frontend
