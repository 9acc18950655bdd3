#include "frontend/resolving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace megakittens::frontend {
namespace {

bool is_arithmetic(ir::PointwiseOp op) {
  const ir::ResultRule rule = ir::operation_of(op).result;
  return rule == ir::ResultRule::same || rule == ir::ResultRule::real;
}

bool is_integer(ir::DType dtype) {
  return ir::kind_of(dtype) == ir::DTypeKind::integer;
}

}  // namespace

std::vector<std::int64_t> memory_order(const fx::TensorMeta& meta) {
  std::vector<std::int64_t> order(meta.shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> by_stride = order;
  std::stable_sort(by_stride.begin(), by_stride.end(), [&](std::int64_t a, std::int64_t b) {
    return meta.strides[static_cast<std::size_t>(a)] > meta.strides[static_cast<std::size_t>(b)];
  });
  ir::Tensor row_major{.shape = meta.shape, .strides = meta.strides};
  if (row_major.is_contiguous() || row_major.elements() == 0) return order;
  ir::Tensor permuted;
  for (std::int64_t dim : by_stride) {
    permuted.shape.push_back(meta.shape[static_cast<std::size_t>(dim)]);
    permuted.strides.push_back(meta.strides[static_cast<std::size_t>(dim)]);
  }
  return permuted.is_contiguous() ? by_stride : order;
}

ir::Ref Chain::read(std::size_t position, const char* name) {
  return read(call_.at(position, name));
}

ir::Ref Chain::read(const fx::Argument& argument) {
  if (const auto* flag = argument.get<bool>()) return ir::Ref::constant(*flag ? 1 : 0);
  if (const auto* number = argument.get<std::int64_t>()) return ir::Ref::constant(static_cast<double>(*number));
  if (const auto* number = argument.get<double>()) return ir::Ref::constant(*number);
  const auto* ref = argument.get<fx::NodeRef>();
  if (ref == nullptr) throw NotResolved("an argument is neither a tensor nor a number");
  const Results& results = call_.context().results(ref->index);
  if (results.size() != 1 || std::holds_alternative<std::monostate>(results[0]))
    throw NotResolved("an argument is not one tensor");
  return read(results[0]);
}

ir::Ref Chain::read(const Symbol& symbol) {
  if (const auto* constant = std::get_if<ConstantSymbol>(&symbol)) return ir::Ref::constant(constant->value);
  operands_.push_back(symbol);
  return ir::Ref::operand(static_cast<int>(operands_.size()) - 1);
}

ir::Ref Chain::step(ir::PointwiseOp op, std::vector<ir::Ref> args) {
  steps_.push_back({op, std::move(args), ir::DType::f32});
  return ir::Ref::step(static_cast<int>(steps_.size()) - 1);
}

Results Chain::finish(ir::Ref result) {
  ir::DType dtype = call_.result_dtype();
  bool integers = is_integer(dtype);
  for (const Symbol& symbol : operands_) integers = integers || is_integer(call_.context().dtype(symbol));
  for (const ir::Step& step : steps_)
    if (integers && (is_integer(dtype) || !ir::is_floating(dtype)) &&
        (is_arithmetic(step.op) || dtype == ir::DType::boolean))
      throw NotResolved("integers are viewed and cast, not computed with: convert to a floating type first");
  return finish_any(result);
}

Results Chain::finish_any(ir::Ref result) {
  Context& context = call_.context();
  const fx::TensorMeta& meta = call_.meta();
  ir::DType dtype = call_.result_dtype();
  if (result.kind != ir::Ref::Kind::step) result = step(ir::PointwiseOp::identity, {result});
  ir::PointwiseBody body{.steps = steps_, .results = {result.index}};
  if (operands_.empty()) return {ConstantSymbol{ir::round_to(dtype, ir::evaluate(body, {}, 0)[0]), dtype, meta.shape}};

  std::vector<TensorSymbol> operands;
  for (const Symbol& symbol : operands_) {
    TensorSymbol operand = std::get<TensorSymbol>(symbol);
    operand.view = operand.view.broadcast_to(meta.shape);
    operands.push_back(std::move(operand));
  }
  ir::Node node;
  const bool copies =
      body == ir::plain_body(ir::PointwiseOp::identity) && operands.size() == 1 && context.dtype(operands_[0]) == dtype;
  if (copies)
    node.family = ir::Family::copy;
  else
    node.body = std::move(body);

  if (std::optional<Destination> to = context.destination(call_, operands, true)) {
    for (const TensorSymbol& operand : operands) node.operands.push_back(context.operand(operand));
    return {context.add_node(call_.index(), std::move(node), context.graph().value(to->root).tensor, to)};
  }
  // In the order of memory that PyTorch chose, seen again in the order of dimensions.
  std::vector<std::int64_t> order = memory_order(meta);
  std::vector<std::int64_t> back(order.size());
  ir::Extents shape;
  for (std::size_t i = 0; i < order.size(); ++i) {
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    shape.push_back(meta.shape[static_cast<std::size_t>(order[i])]);
  }
  for (TensorSymbol& operand : operands) {
    operand.view = operand.view.permute(order);
    node.operands.push_back(context.operand(operand));
  }
  TensorSymbol made = context.add_node(call_.index(), std::move(node), ir::Tensor::dense(dtype, shape));
  made.view = made.view.permute(back);
  return {made};
}

}  // namespace megakittens::frontend
