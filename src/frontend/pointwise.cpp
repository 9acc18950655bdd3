#include <algorithm>
#include <array>
#include <cmath>

#include "frontend/prune.hpp"
#include "frontend/resolvers.hpp"
#include "frontend/resolving.hpp"

namespace megakittens::frontend {
namespace {

using ir::PointwiseOp;
using ir::Ref;

/// A call that is one operation of the table.
template <PointwiseOp op>
Results resolve_operation(const Call& call) {
  const ir::PointwiseOperation& operation = ir::operation_of(op);
  Chain chain(call);
  if (operation.arity == 1) return chain.finish(chain.step(op, {chain.read(0, "self")}));
  if (operation.arity == 2) {
    const bool compares = operation.result == ir::ResultRule::truth;
    const std::array<Symbol, 2> sides = promoted(call, compares ? Numbers::rounded : Numbers::exact);
    const Ref a = chain.read(sides[0]);
    return chain.finish(chain.step(op, {a, chain.read(sides[1])}));
  }
  const Ref condition = chain.read(0, "condition"), yes = chain.read(1, "self");
  return chain.finish_any(chain.step(op, {condition, yes, chain.read(2, "other")}));
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
  const std::array<Symbol, 2> sides = promoted(call, Numbers::exact);
  Chain chain(call);
  const Ref a = chain.read(sides[0]), b = chain.read(sides[1]);
  if (b.kind != Ref::Kind::constant) return chain.finish(chain.step(PointwiseOp::div, {a, b}));
  // By a number PyTorch divides on a GPU by multiplying with its reciprocal.
  return chain.finish(chain.step(PointwiseOp::mul, {a, Ref::constant(1.0F / static_cast<float>(b.value))}));
}

Results resolve_gelu(const Call& call) {
  std::string how = call.text(1, "approximate", "none");
  if (how == "none") return resolve_operation<PointwiseOp::gelu_erf>(call);
  if (how == "tanh") return resolve_operation<PointwiseOp::gelu_tanh>(call);
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
  return resolve_operation<op>(call);
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

/// "neg mul.Tensor" are aten.neg.default and aten.mul.Tensor.
void add(ResolverTable& table, std::string_view overloads, Resolver resolver) {
  while (!overloads.empty()) {
    const std::string name(overloads.substr(0, overloads.find(' ')));
    overloads.remove_prefix(std::min(overloads.size(), name.size() + 1));
    table["aten." + name + (name.find('.') == std::string::npos ? ".default" : "")] = {resolver};
  }
}

}  // namespace

void add_pointwise_resolvers(ResolverTable& table) {
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) \
  add(table, aten, resolve_operation<PointwiseOp::name>);
#include "ir/operations.def"
  // Calls that are several operations, or one with conditions.
  add(table, "add.Tensor add.Scalar", resolve_add);
  add(table, "sub.Tensor sub.Scalar", resolve_sub);
  add(table, "rsub.Tensor rsub.Scalar", resolve_rsub);
  add(table, "div.Tensor div.Scalar div.Tensor_mode div.Scalar_mode", resolve_div);
  add(table, "pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar", resolve_pow);
  add(table, "square", resolve_square);
  add(table, "gelu", resolve_gelu);
  add(table, "clamp clamp.Tensor hardtanh", resolve_clamp);
  add(table, "clamp_min clamp_min.Tensor", resolve_clamp_min);
  add(table, "clamp_max clamp_max.Tensor", resolve_clamp_max);
  add(table, "addcmul", resolve_addc<PointwiseOp::mul>);
  add(table, "addcdiv", resolve_addc<PointwiseOp::div>);
  add(table, "masked_fill.Tensor masked_fill.Scalar", resolve_masked_fill);
  add(table, "logical_and bitwise_and.Tensor", resolve_logic<PointwiseOp::minimum>);
  add(table, "logical_or bitwise_or.Tensor", resolve_logic<PointwiseOp::maximum>);
  add(table, "logical_not bitwise_not", resolve_not);
  add(table, "_to_copy", resolve_cast);
  table["prims.convert_element_type.default"] = {resolve_cast};
}

}  // namespace megakittens::frontend
