#include <fmt/format.h>

#include "frontend/resolvers.hpp"
#include "support/error.hpp"

namespace megakittens::frontend {
namespace {

using ir::PointwiseOp;
using ir::Ref;

/// A bias that the epilogue adds: beta * bias + alpha * product, rounded once.
struct Epilogue {
  std::optional<TensorSymbol> bias;
  double alpha = 1;
  double beta = 1;
};

ir::Extents batch_of(const ir::View& view) {
  return {view.sizes.begin(), view.sizes.end() - 2};
}

ir::View with_batch(const ir::View& view, const ir::Extents& batch) {
  ir::Extents sizes = batch;
  sizes.insert(sizes.end(), view.sizes.end() - 2, view.sizes.end());
  return view.broadcast_to(sizes);
}

/// A [.., M, K] times B [.., K, N]; the result has the shape that this gives, whatever the call's own shape.
TensorSymbol multiply(const Call& call, TensorSymbol a, TensorSymbol b, const Epilogue& epilogue) {
  Context& context = call.context();
  ir::DType type = context.dtype(a);
  if (!ir::is_floating(type)) throw NotResolved("products of integers are not supported");
  if (context.dtype(b) != type) throw NotResolved("products of two types are not supported");
  ir::Extents shape = ir::broadcast_shapes(batch_of(a.view), batch_of(b.view));
  a.view = with_batch(a.view, shape);
  b.view = with_batch(b.view, shape);
  shape.push_back(a.view.sizes[a.view.sizes.size() - 2]);
  shape.push_back(b.view.sizes.back());
  ir::Node node;
  node.family = ir::Family::contraction;
  std::vector<TensorSymbol> operands{a, b};
  ir::PointwiseBody body;
  Ref value = Ref::accumulator();
  auto step = [&](PointwiseOp op, Ref left, Ref right) {
    body.steps.push_back({op, {left, right}, ir::DType::f32});
    value = Ref::step(static_cast<int>(body.steps.size()) - 1);
    return value;
  };
  if (epilogue.alpha != 1) step(PointwiseOp::mul, value, Ref::constant(epilogue.alpha));
  // beta = 0 means that the bias is not read, even where it is not a number.
  if (epilogue.bias && epilogue.beta != 0) {
    TensorSymbol bias = *epilogue.bias;
    bias.view = bias.view.broadcast_to(shape);
    operands.push_back(bias);
    Ref product = value;
    Ref added = Ref::operand(2);
    if (epilogue.beta != 1) added = step(PointwiseOp::mul, added, Ref::constant(epilogue.beta));
    step(PointwiseOp::add, product, added);
  }
  if (!body.steps.empty()) {
    body.results = {static_cast<int>(body.steps.size()) - 1};
    node.body = std::move(body);
  }
  std::optional<Destination> to;
  if (shape == call.meta().shape) to = context.destination(call, operands, false);
  for (const TensorSymbol& operand : operands) node.operands.push_back(context.operand(operand));
  if (to) return context.add_node(call.index(), std::move(node), context.graph().value(to->root).tensor, to);
  return context.add_node(call.index(), std::move(node), ir::Tensor::dense(call.result_dtype(), shape));
}

void need_rank(const TensorSymbol& symbol, int rank) {
  if (symbol.view.rank() != rank) throw NotResolved(fmt::format("an argument has rank {}", symbol.view.rank()));
}

Results resolve_mm(const Call& call) {
  TensorSymbol a = call.tensor(0, "self");
  TensorSymbol b = call.tensor(1, "mat2");
  if (a.view.rank() < 2) throw NotResolved("an argument is not a matrix");
  need_rank(b, a.view.rank());
  return {multiply(call, a, b, {})};
}

Results resolve_addmm(const Call& call) {
  TensorSymbol a = call.tensor(1, "mat1");
  TensorSymbol b = call.tensor(2, "mat2");
  if (a.view.rank() < 2) throw NotResolved("an argument is not a matrix");
  need_rank(b, a.view.rank());
  return {multiply(
      call, a, b,
      {.bias = call.tensor(0, "self"), .alpha = call.number(4, "alpha", 1), .beta = call.number(3, "beta", 1)})};
}

/// matmul and mv: vectors become matrices of one row or column, and the result loses that dimension again.
Results resolve_matmul(const Call& call) {
  TensorSymbol a = call.tensor(0, "self");
  TensorSymbol b = call.tensor(1, "other");
  if (a.view.rank() == 0 || b.view.rank() == 0) throw NotResolved("a product with a scalar");
  bool row = a.view.rank() == 1;
  bool column = b.view.rank() == 1;
  if (row) a.view = a.view.unsqueeze(0);
  if (column) b.view = b.view.unsqueeze(1);
  TensorSymbol product = multiply(call, a, b, {});
  if (column) product.view = product.view.select(product.view.rank() - 1, 0);
  if (row) product.view = product.view.select(product.view.rank() - (column ? 1 : 2), 0);
  return {product};
}

/// x [.., K] times the transpose of weight [N, K], plus bias: one matrix product where the rows of x are one run.
Results resolve_linear(const Call& call) {
  TensorSymbol x = call.tensor(0, "input");
  TensorSymbol weight = call.tensor(1, "weight");
  if (x.view.rank() < 1) throw NotResolved("the input is a scalar");
  need_rank(weight, 2);
  Epilogue epilogue;
  if (call.is_tensor(2, "bias")) epilogue.bias = call.tensor(2, "bias");
  weight.view = weight.view.transpose(0, 1);
  const ir::Extents& shape = call.meta().shape;
  if (x.view.rank() == 2) return {multiply(call, x, weight, epilogue)};
  if (x.view.sizes.back() == 0) throw NotResolved("a product over no elements");
  std::optional<ir::View> rows = x.view.reshape({x.view.elements() / x.view.sizes.back(), x.view.sizes.back()});
  if (rows) {
    TensorSymbol product = multiply(call, {x.root, *rows}, weight, epilogue);
    product.view = *product.view.reshape(shape);
    return {product};
  }
  return {multiply(call, x, weight, epilogue)};
}

}  // namespace

void add_product_resolvers(ResolverTable& table) {
  table["aten.mm.default"] = table["aten.bmm.default"] = {resolve_mm};
  table["aten.addmm.default"] = table["aten.baddbmm.default"] = {resolve_addmm};
  table["aten.matmul.default"] = table["aten.mv.default"] = table["aten.dot.default"] = {resolve_matmul};
  table["aten.linear.default"] = {resolve_linear};
}

}  // namespace megakittens::frontend
