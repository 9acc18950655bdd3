#include <array>
#include <cmath>

#include "frontend/chain.hpp"
#include "frontend/promotion.hpp"
#include "frontend/prune.hpp"
#include "frontend/resolvers.hpp"

namespace megakittens::frontend {
namespace {

using ir::PointwiseOp;
using ir::Ref;

template <PointwiseOp op>
Results resolve_unary(const Call& call) {
  Chain chain(call);
  return chain.finish(chain.step(op, {chain.read(0, "self")}));
}

template <PointwiseOp op, Numbers numbers = Numbers::exact>
Results resolve_binary(const Call& call) {
  const std::array<Symbol, 2> sides = promoted(call, numbers);
  Chain chain(call);
  const Ref a = chain.read(sides[0]);
  return chain.finish(chain.step(op, {a, chain.read(sides[1])}));
}

/// a + alpha * b, a - alpha * b, and with the sides exchanged: one rounding, as PyTorch.
Results scaled_sum(const Call& call, PointwiseOp op, bool reversed) {
  const std::array<Symbol, 2> sides = promoted(call, Numbers::exact);
  Chain chain(call);
  Ref a = chain.read(sides[0]);
  Ref b = chain.read(sides[1]);
  if (reversed) std::swap(a, b);
  double alpha = call.number(2, "alpha", 1);
  Ref& scaled = reversed ? a : b;
  // rsub(a, b, alpha) = b - alpha * a.
  if (reversed) {
    if (alpha != 1) b = chain.step(PointwiseOp::mul, {b, Ref::constant(alpha)});
  } else if (alpha != 1) {
    scaled = chain.step(PointwiseOp::mul, {scaled, Ref::constant(alpha)});
  }
  return chain.finish(chain.step(op, {a, b}));
}
Results resolve_add(const Call& call) {
  return scaled_sum(call, PointwiseOp::add, false);
}
Results resolve_sub(const Call& call) {
  return scaled_sum(call, PointwiseOp::sub, false);
}
Results resolve_rsub(const Call& call) {
  return scaled_sum(call, PointwiseOp::sub, true);
}

Results resolve_div(const Call& call) {
  if (call.find(2, "rounding_mode") != nullptr)
    throw NotResolved("div with rounding_mode=" + call.text(2, "rounding_mode", "") + " is not supported");
  return resolve_binary<PointwiseOp::div>(call);
}

Results resolve_gelu(const Call& call) {
  std::string how = call.text(1, "approximate", "none");
  if (how == "none") return resolve_unary<PointwiseOp::gelu_erf>(call);
  if (how == "tanh") return resolve_unary<PointwiseOp::gelu_tanh>(call);
  throw NotResolved("gelu with approximate='" + how + "'");
}

/// The exponents that PyTorch computes without pow, then pow.
Results resolve_pow(const Call& call) {
  const std::array<Symbol, 2> sides = promoted(call, Numbers::exact, "exponent");
  Chain chain(call);
  Ref base = chain.read(sides[0]);
  Ref exponent = chain.read(sides[1]);
  // Of a tensor as exponent PyTorch asks no value.
  const bool number = exponent.kind == Ref::Kind::constant && !call.is_tensor(1, "exponent");
  if (number && base.kind != Ref::Kind::constant) {
    auto square = [&] { return chain.step(PointwiseOp::mul, {base, base}); };
    if (exponent.value == 1) return chain.finish(base);
    if (exponent.value == 2) return chain.finish(square());
    if (exponent.value == 3) return chain.finish(chain.step(PointwiseOp::mul, {square(), base}));
    if (exponent.value == 0.5) return chain.finish(chain.step(PointwiseOp::sqrt, {base}));
    if (exponent.value == -0.5) return chain.finish(chain.step(PointwiseOp::rsqrt, {base}));
    if (exponent.value == -1) return chain.finish(chain.step(PointwiseOp::reciprocal, {base}));
    if (exponent.value == -2) return chain.finish(chain.step(PointwiseOp::reciprocal, {square()}));
  }
  return chain.finish(chain.step(PointwiseOp::pow, {base, exponent}));
}

Results resolve_square(const Call& call) {
  Chain chain(call);
  Ref x = chain.read(0, "self");
  return chain.finish(chain.step(PointwiseOp::mul, {x, x}));
}

Results clamp(const Call& call, std::size_t low, std::size_t high) {
  Chain chain(call);
  Ref value = chain.read(0, "self");
  if (call.find(low, "min") != nullptr) value = chain.step(PointwiseOp::maximum, {value, chain.read(low, "min")});
  if (call.find(high, "max") != nullptr) value = chain.step(PointwiseOp::minimum, {value, chain.read(high, "max")});
  return chain.finish(value);
}
constexpr std::size_t kNowhere = 99;
Results resolve_clamp(const Call& call) {
  return clamp(call, 1, 2);
}
Results resolve_clamp_min(const Call& call) {
  return clamp(call, 1, kNowhere);
}
Results resolve_clamp_max(const Call& call) {
  return clamp(call, kNowhere, 1);
}

Results resolve_where(const Call& call) {
  Chain chain(call);
  Ref condition = chain.read(0, "condition");
  Ref yes = chain.read(1, "self");
  return chain.finish_any(chain.step(PointwiseOp::where, {condition, yes, chain.read(2, "other")}));
}

/// masked_fill(x, mask, value)
Results resolve_masked_fill(const Call& call) {
  Chain chain(call);
  Ref x = chain.read(0, "self");
  Ref mask = chain.read(1, "mask");
  return chain.finish_any(chain.step(PointwiseOp::where, {mask, chain.read(2, "value"), x}));
}

/// self + value * a * b, self + value * a / b
template <PointwiseOp op>
Results resolve_addc(const Call& call) {
  Chain chain(call);
  Ref self = chain.read(0, "self");
  Ref a = chain.read(1, "tensor1");
  Ref term = chain.step(op, {a, chain.read(2, "tensor2")});
  double value = call.number(3, "value", 1);
  if (value != 1) term = chain.step(PointwiseOp::mul, {term, Ref::constant(value)});
  return chain.finish(chain.step(PointwiseOp::add, {self, term}));
}

bool all_bool(const Call& call, std::size_t arguments) {
  for (std::size_t i = 0; i < arguments; ++i) {
    if (!call.is_tensor(i, "self")) return false;
    const Results& results = call.context().results(call.node_at(i, "self"));
    if (results.size() != 1 || std::holds_alternative<std::monostate>(results[0]) ||
        call.context().dtype(results[0]) != ir::DType::boolean)
      return false;
  }
  return true;
}

template <PointwiseOp op>
Results resolve_logic(const Call& call) {
  if (!all_bool(call, 2)) throw NotResolved("bitwise operations are supported on bool tensors only");
  return resolve_binary<op>(call);
}

Results resolve_not(const Call& call) {
  if (!all_bool(call, 1)) throw NotResolved("bitwise operations are supported on bool tensors only");
  Chain chain(call);
  return chain.finish(chain.step(PointwiseOp::eq, {chain.read(0, "self"), Ref::constant(0)}));
}

bool is_exact_cast(ir::DType from, ir::DType to) {
  // fp32 between two integer types would lose bits.
  bool integers =
      !ir::is_floating(from) && from != ir::DType::boolean && !ir::is_floating(to) && to != ir::DType::boolean;
  return from == to || !integers;
}

Results resolve_cast(const Call& call) {
  Context& context = call.context();
  TensorSymbol source = call.tensor(0, "self");
  if (const fx::Argument* device = call.find(kNowhere, "device"))
    if (const auto* named = device->get<fx::Named>(); named != nullptr && named->text != call.meta().device)
      throw NotResolved("copies between devices are not supported");
  const auto& from = context.module().nodes[static_cast<std::size_t>(call.node_at(0, "self"))];
  if (!from.results.empty() && from.results[0] && from.results[0]->device != call.meta().device)
    throw NotResolved("copies between devices are not supported");
  if (!is_exact_cast(context.dtype(source), call.result_dtype()))
    throw NotResolved("casts between integer types are not supported");
  Chain chain(call);
  return chain.finish_any(chain.step(PointwiseOp::identity, {chain.read(0, "self")}));
}

}  // namespace

void add_pointwise_resolvers(ResolverTable& table) {
  auto unary = [&](const char* name, Resolver resolver) {
    table[std::string("aten.") + name + ".default"] = {resolver};
  };
  unary("neg", resolve_unary<PointwiseOp::neg>);
  unary("abs", resolve_unary<PointwiseOp::abs>);
  unary("exp", resolve_unary<PointwiseOp::exp>);
  unary("exp2", resolve_unary<PointwiseOp::exp2>);
  unary("log", resolve_unary<PointwiseOp::log>);
  unary("log2", resolve_unary<PointwiseOp::log2>);
  unary("sqrt", resolve_unary<PointwiseOp::sqrt>);
  unary("rsqrt", resolve_unary<PointwiseOp::rsqrt>);
  unary("reciprocal", resolve_unary<PointwiseOp::reciprocal>);
  unary("relu", resolve_unary<PointwiseOp::relu>);
  unary("silu", resolve_unary<PointwiseOp::silu>);
  unary("sigmoid", resolve_unary<PointwiseOp::sigmoid>);
  unary("tanh", resolve_unary<PointwiseOp::tanh>);
  unary("gelu", resolve_gelu);
  unary("square", resolve_square);
  unary("maximum", resolve_binary<PointwiseOp::maximum>);
  unary("minimum", resolve_binary<PointwiseOp::minimum>);
  unary("clamp", resolve_clamp);
  unary("hardtanh", resolve_clamp);
  unary("clamp_min", resolve_clamp_min);
  unary("clamp_max", resolve_clamp_max);
  unary("addcmul", resolve_addc<PointwiseOp::mul>);
  unary("addcdiv", resolve_addc<PointwiseOp::div>);
  unary("logical_and", resolve_logic<PointwiseOp::minimum>);
  unary("logical_or", resolve_logic<PointwiseOp::maximum>);
  unary("logical_not", resolve_not);
  unary("bitwise_not", resolve_not);
  unary("_to_copy", resolve_cast);
  table["prims.convert_element_type.default"] = {resolve_cast};
  table["aten.clamp.Tensor"] = {resolve_clamp};
  table["aten.clamp_min.Tensor"] = {resolve_clamp_min};
  table["aten.clamp_max.Tensor"] = {resolve_clamp_max};
  table["aten.max.other"] = {resolve_binary<PointwiseOp::maximum>};
  table["aten.min.other"] = {resolve_binary<PointwiseOp::minimum>};
  table["aten.bitwise_and.Tensor"] = {resolve_logic<PointwiseOp::minimum>};
  table["aten.bitwise_or.Tensor"] = {resolve_logic<PointwiseOp::maximum>};
  auto both = [&](const char* name, Resolver resolver) {
    for (const char* overload : {"Tensor", "Scalar"}) table[std::string("aten.") + name + "." + overload] = {resolver};
  };
  both("add", resolve_add);
  both("sub", resolve_sub);
  both("rsub", resolve_rsub);
  both("mul", resolve_binary<PointwiseOp::mul>);
  both("div", resolve_div);
  for (const char* mode : {"Tensor_mode", "Scalar_mode"}) table[std::string("aten.div.") + mode] = {resolve_div};
  both("eq", resolve_binary<PointwiseOp::eq, Numbers::rounded>);
  both("ne", resolve_binary<PointwiseOp::ne, Numbers::rounded>);
  both("lt", resolve_binary<PointwiseOp::lt, Numbers::rounded>);
  both("le", resolve_binary<PointwiseOp::le, Numbers::rounded>);
  both("gt", resolve_binary<PointwiseOp::gt, Numbers::rounded>);
  both("ge", resolve_binary<PointwiseOp::ge, Numbers::rounded>);
  both("masked_fill", resolve_masked_fill);
  for (const char* overload : {"Tensor_Scalar", "Tensor_Tensor", "Scalar"})
    table[std::string("aten.pow.") + overload] = {resolve_pow};
  for (const char* overload : {"self", "Scalar", "ScalarSelf", "ScalarOther"})
    table[std::string("aten.where.") + overload] = {resolve_where};
}

}  // namespace megakittens::frontend
