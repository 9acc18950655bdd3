#include "support/pointwise_graphs.hpp"

#include <algorithm>

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;
using ir::PointwiseOp;
using ir::Ref;

constexpr PointwiseOp kOperations[] = {
#define MK_OPERATION(name, ...) PointwiseOp::name,
#include "ir/operations.def"
};

/// The rows of the forms `function` and `seldom`.
constexpr bool kFunctions[] = {
#define MK_OPERATION(name, arity, result, form, ...) std::string_view(#form) == "function" || std::string_view(#form) == "seldom",
#include "ir/operations.def"
};

bool is_comparison(PointwiseOp op) {
  return ir::operation_of(op).result == ir::ResultRule::truth;
}

/// A node of the operation alone. `round` rounds to another type than the result's.
Handle apply(Builder& b, PointwiseOp op, const std::vector<Handle>& args, DType to) {
  if (op != PointwiseOp::round && b.dtype_of(args.back()) == to) return b.pointwise(op, args);
  std::vector<Ref> refs;
  for (int i = 0; i < ir::arity_of(op); ++i) refs.push_back(Ref::operand(i));
  const DType rounded = to == DType::bf16 ? DType::f16 : DType::bf16;
  ir::PointwiseBody body{.steps = {{op, std::move(refs), op == PointwiseOp::round ? rounded : DType::f32}},
                         .results = {0}};
  return b.pointwise_body(std::move(body), args, is_comparison(op) ? DType::boolean : to);
}

void add(OperationGraph& graph, Builder& b, const Handle& output, PointwiseOp op, const Tolerance& tolerance) {
  b.output(output);
  graph.ops.push_back(op);
  graph.tolerances.push_back(tolerance);
}

/// What uses the result of `op`: exact, so that nothing but its own rounding comes on top.
Handle used(Builder& b, PointwiseOp op, const Handle& result, const Handle& x, const Handle& y) {
  return is_comparison(op) ? b.pointwise(PointwiseOp::where, {result, x, y}) : b.mul(result, y);
}

/// Of what used() makes from a result of `op`: of factors below 4.
Tolerance tolerance_when_used(PointwiseOp op, DType dtype) {
  Tolerance tolerance = tolerance_of(op, dtype, 2);
  tolerance.absolute *= 4;
  return tolerance;
}

}  // namespace

std::span<const PointwiseOp> pointwise_operations() {
  return kOperations;
}

bool is_function(PointwiseOp op) {
  return kFunctions[static_cast<std::size_t>(op)] && op != PointwiseOp::div;
}

Tolerance tolerance_of(PointwiseOp op, DType dtype, float units) {
  if (!is_function(op)) return {};
  Tolerance tolerance = units_of(dtype, dtype == DType::f32 ? 4 * units : units);
  tolerance.absolute = std::max(tolerance.absolute, 1e-6F);
  return tolerance;
}

bool is_of_positive(PointwiseOp op) {
  return (op >= PointwiseOp::log && op <= PointwiseOp::rsqrt) || op == PointwiseOp::pow || op == PointwiseOp::log1p;
}

void choose_domain(bool positive, RunSetup& setup) {
  setup.low = positive ? 0.1F : -4;
  setup.high = 4;
}

OperationGraph alone(std::span<const PointwiseOp> ops, DType from, DType to) {
  OperationGraph result;
  Builder b("alone");
  for (const ir::Extents& shape : {ir::Extents{20, 136}, ir::Extents{5, 33}}) {
    const Handle mask = b.input("mask", DType::boolean, shape);
    const Handle args[] = {b.input("x", from, shape), b.input("y", from, shape), b.input("z", from, shape)};
    for (const PointwiseOp op : ops) {
      std::vector<Handle> taken(args, args + ir::arity_of(op));
      if (op == PointwiseOp::where) taken[0] = mask;
      add(result, b, apply(b, op, taken, to), op, tolerance_of(op, to));
    }
  }
  result.graph = b.build();
  return result;
}

OperationGraph in_chains(std::span<const PointwiseOp> ops, DType dtype) {
  OperationGraph result;
  Builder b("in_chains");
  for (const ir::Extents& shape : {ir::Extents{20, 136}, ir::Extents{5, 33}}) {
    const Handle mask = b.input("mask", DType::boolean, shape);
    const Handle inputs[] = {b.input("x", dtype, shape), b.input("y", dtype, shape), b.input("z", dtype, shape)};
    const Handle row = b.input("row", dtype, {shape.back()});
    for (const PointwiseOp op : ops) {
      std::vector<Handle> args;
      for (int i = 0; i < ir::arity_of(op); ++i)
        args.push_back(op == PointwiseOp::where && i == 0
                           ? mask
                           : b.pointwise(is_of_positive(op) ? PointwiseOp::abs : PointwiseOp::neg, {inputs[i]}));
      const Handle value = apply(b, op, args, dtype);
      add(result, b, used(b, op, value, inputs[0], row), op, tolerance_when_used(op, dtype));
    }
  }
  result.graph = b.build();
  return result;
}

OperationGraph behind_products(std::span<const PointwiseOp> ops, DType dtype) {
  constexpr std::int64_t kM = 72, kN = 136, kK = 16;
  OperationGraph result;
  Builder b("behind_products");
  const Handle x = b.input("x", dtype, {kM, kK}), w = b.input("w", dtype, {kK, kN});
  const Handle y = b.input("y", dtype, {kM, kN}), row = b.input("row", dtype, {kN});
  for (const PointwiseOp op : ops) {
    // Sixteenths: small enough for exp.
    const auto small = [&](const Handle& sums) { return b.pointwise(PointwiseOp::mul, sums, 0.0625); };
    const auto allowed = [&](const Handle& value) {
      return is_of_positive(op) ? b.pointwise(PointwiseOp::abs, {value}) : value;
    };
    const Handle product = small(b.matmul(x, w));
    std::vector<Handle> args{allowed(product)};
    if (ir::arity_of(op) == 2) args.push_back(allowed(y));
    if (op == PointwiseOp::where) args = {b.pointwise(PointwiseOp::gt, product, 0.0), product, y};
    const Handle value = apply(b, op, args, dtype);
    add(result, b, used(b, op, value, product, row), op, tolerance_when_used(op, dtype));
  }
  result.graph = b.build();
  return result;
}

}  // namespace megakittens::test
