#include "ir/builder.hpp"

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

bool is_comparison(PointwiseOp op) {
  return operation_of(op).result == ResultRule::truth;
}

Operand operand_of(const Handle& handle) {
  return {handle.value, handle.view};
}

}  // namespace

Builder::Builder(std::string name) {
  graph_.name = std::move(name);
}

Handle Builder::whole(ValueId value) const {
  return {value, View::whole(graph_.value(value).tensor)};
}

DType Builder::dtype_of(const Handle& handle) const {
  return graph_.value(handle.value).tensor.dtype;
}

Handle Builder::input(std::string name, DType dtype, Extents shape) {
  return input(std::move(name), Tensor::dense(dtype, std::move(shape)));
}

Handle Builder::input(std::string name, Tensor tensor) {
  if (tensor.rank() > kMaxRank)
    throw UserError(fmt::format("input '{}' has rank {}; at most {} is supported", name, tensor.rank(), kMaxRank));
  auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({.name = std::move(name), .tensor = std::move(tensor)});
  graph_.inputs.push_back(id);
  return whole(id);
}

void Builder::at(std::string name, std::string source) {
  next_name_ = std::move(name);
  next_source_ = std::move(source);
}

Handle Builder::add_node(Node node, Tensor result, std::optional<Mutation> mutation) {
  auto id = static_cast<ValueId>(graph_.values.size());
  auto number = static_cast<NodeId>(graph_.nodes.size());
  node.name = next_name_.empty() ? fmt::format("{}_{}", op_of(node), number) : next_name_;
  node.source = next_source_;
  node.outputs = {id};
  next_name_.clear();
  graph_.values.push_back(
      {.name = node.name, .tensor = std::move(result), .producer = number, .mutation = std::move(mutation)});
  graph_.nodes.push_back(std::move(node));
  return whole(id);
}

Handle Builder::pointwise(PointwiseOp op, const std::vector<Handle>& args) {
  if (static_cast<int>(args.size()) != arity_of(op))
    throw UserError(fmt::format("{} takes {} operands, {} were given", name_of(op), arity_of(op), args.size()));
  Extents shape;
  DType result = dtype_of(args.back());
  // `where` has the type of its branches, not of its condition.
  for (std::size_t i = args.size(); i-- > (op == PointwiseOp::where ? 1U : 0U);)
    if (is_floating(dtype_of(args[i])) || !is_floating(result)) result = dtype_of(args[i]);
  for (const Handle& arg : args) {
    try {
      shape = broadcast_shapes(shape, arg.view.sizes);
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}: {}", name_of(op), error.what()));
    }
  }
  Node node{.body = plain_body(op)};
  for (const Handle& arg : args) node.operands.push_back({arg.value, arg.view.broadcast_to(shape)});
  return add_node(std::move(node), Tensor::dense(is_comparison(op) ? DType::boolean : result, shape));
}

Handle Builder::pointwise(PointwiseOp op, const Handle& a, double scalar) {
  if (arity_of(op) != 2) throw UserError(fmt::format("{} does not take a tensor and a scalar", name_of(op)));
  PointwiseBody body{.steps = {{op, {Ref::operand(0), Ref::constant(scalar)}, DType::f32}}, .results = {0}};
  return pointwise_body(std::move(body), {a}, is_comparison(op) ? DType::boolean : dtype_of(a));
}

Handle Builder::pointwise_body(PointwiseBody body, const std::vector<Handle>& args, DType result) {
  if (body.results.size() != 1)
    throw UserError(fmt::format("the body has {} results, the builder makes one", body.results.size()));
  Extents shape;
  for (const Handle& arg : args) shape = broadcast_shapes(shape, arg.view.sizes);
  Node node{.body = std::move(body)};
  for (const Handle& arg : args) node.operands.push_back({arg.value, arg.view.broadcast_to(shape)});
  return add_node(std::move(node), Tensor::dense(result, shape));
}

Handle Builder::cast(const Handle& x, DType dtype) {
  Node node{.operands = {operand_of(x)}, .body = plain_body(PointwiseOp::identity)};
  return add_node(std::move(node), Tensor::dense(dtype, x.view.sizes));
}

Handle Builder::copy(const Handle& x) {
  Node node{.family = Family::copy, .operands = {operand_of(x)}};
  return add_node(std::move(node), Tensor::dense(dtype_of(x), x.view.sizes));
}

Handle Builder::matmul(const Handle& a, const Handle& b) {
  const Extents& left = a.view.sizes;
  const Extents& right = b.view.sizes;
  auto refuse = [&](const char* why) {
    throw UserError(fmt::format("matmul: {} times {}: {}", to_string(left), to_string(right), why));
  };
  if (left.size() < 2 || right.size() < 2) refuse("both need at least two dimensions");
  if (left.back() != right[right.size() - 2]) refuse("the inner sizes differ");
  if (dtype_of(a) != dtype_of(b) || !is_floating(dtype_of(a))) refuse("both must have one floating type");
  Extents batch;
  try {
    batch = broadcast_shapes(Extents(left.begin(), left.end() - 2), Extents(right.begin(), right.end() - 2));
  } catch (const UserError&) {
    refuse("the batch dimensions do not broadcast");
  }
  auto with_batch = [&](const Extents& matrix) {
    Extents shape = batch;
    shape.insert(shape.end(), matrix.end() - 2, matrix.end());
    return shape;
  };
  Extents shape = batch;
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  Node node{.family = Family::contraction};
  node.operands = {{a.value, a.view.broadcast_to(with_batch(left))}, {b.value, b.view.broadcast_to(with_batch(right))}};
  return add_node(std::move(node), Tensor::dense(dtype_of(a), shape));
}

Handle Builder::assign(const Handle& target, const Handle& source) {
  View from = source.view.broadcast_to(target.view.sizes);
  const Tensor tensor = graph_.value(target.value).tensor;
  Node node{.operands = {{source.value, std::move(from)}}};
  if (dtype_of(source) == tensor.dtype)
    node.family = Family::copy;
  else
    node.body = plain_body(PointwiseOp::identity);
  return add_node(std::move(node), tensor, Mutation{target.value, target.view});
}

namespace {

int wrapped(int dim, int rank, const char* what) {
  const int at = dim < 0 ? dim + rank : dim;
  if (at < 0 || at >= rank)
    throw UserError(fmt::format("{}: dimension {} is out of range for rank {}", what, dim, rank));
  return at;
}

}  // namespace

Handle Builder::reduce(Reduction kind, const Handle& x, std::vector<int> dims, bool keep) {
  const int rank = x.view.rank();
  for (int& dim : dims) dim = wrapped(dim, rank, "reduce");
  std::ranges::sort(dims);
  if (std::ranges::adjacent_find(dims) != dims.end()) throw UserError("reduce: a dimension is named twice");
  if (dims.empty())
    for (int d = 0; d < rank; ++d) dims.push_back(d);
  Extents shape;
  for (int d = 0; d < rank; ++d)
    if (const bool gone = std::ranges::binary_search(dims, d); keep || !gone)
      shape.push_back(gone ? 1 : x.view.sizes[d]);
  DType result = dtype_of(x);
  if (kind == Reduction::any || kind == Reduction::all) result = DType::boolean;
  if (kind == Reduction::argmax || kind == Reduction::argmin) result = DType::i64;
  Node node{.family = Family::reduce, .operands = {operand_of(x)}, .details = Reduce{kind, std::move(dims), keep}};
  return add_node(std::move(node), Tensor::dense(result, std::move(shape)));
}

Handle Builder::gather(const Handle& x, int dim, const Handle& index) {
  dim = wrapped(dim, x.view.rank(), "gather");
  std::vector<int> coordinates;
  for (int d = 0; d < x.view.rank(); ++d) coordinates.push_back(d == dim ? -1 : d);
  Node node{.family = Family::gather, .operands = {operand_of(x), operand_of(index)}, .details = Gather{coordinates}};
  return add_node(std::move(node), Tensor::dense(dtype_of(x), index.view.sizes));
}

Handle Builder::scatter(ScatterKind kind, const Handle& x, int dim, const Handle& index, const Handle& values) {
  dim = wrapped(dim, x.view.rank(), "scatter");
  std::vector<int> coordinates;
  for (int d = 0; d < x.view.rank(); ++d) coordinates.push_back(d == dim ? -1 : d);
  Node node{.family = Family::scatter,
            .operands = {operand_of(x), operand_of(values), operand_of(index)},
            .details = Scatter{kind, std::move(coordinates)}};
  return add_node(std::move(node), Tensor::dense(dtype_of(x), x.view.sizes));
}

Handle Builder::scan(ScanKind kind, const Handle& x, int dim) {
  Node node{
      .family = Family::scan, .operands = {operand_of(x)}, .details = Scan{kind, wrapped(dim, x.view.rank(), "scan")}};
  return add_node(std::move(node), Tensor::dense(dtype_of(x), x.view.sizes));
}

Handle Builder::call(std::string target, const std::vector<Handle>& args, Tensor result) {
  Node node{.family = Family::call, .details = Call{.target = std::move(target)}};
  for (const Handle& arg : args) node.operands.push_back(operand_of(arg));
  return add_node(std::move(node), std::move(result));
}

std::vector<Handle> Builder::call(std::string target, const std::vector<Handle>& args, std::vector<Tensor> results,
                                  const std::map<std::string, Attribute>& arguments) {
  if (results.empty()) throw UserError(fmt::format("'{}' is called for no result", target));
  std::vector<Handle> handles{call(std::move(target), args, std::move(results[0]))};
  Node& node = graph_.nodes.back();
  std::get<Call>(node.details).arguments = arguments;
  for (std::size_t k = 1; k < results.size(); ++k) {
    node.outputs.push_back(static_cast<ValueId>(graph_.values.size()));
    graph_.values.push_back({.name = fmt::format("{}_{}", node.name, k),
                             .tensor = std::move(results[k]),
                             .producer = static_cast<NodeId>(graph_.nodes.size() - 1),
                             .output_index = static_cast<int>(k)});
    handles.push_back(whole(node.outputs.back()));
  }
  return handles;
}

Handle Builder::reshape(const Handle& x, const Extents& sizes) {
  if (std::optional<View> view = x.view.reshape(sizes)) return {x.value, std::move(*view)};
  Handle dense = copy(x);
  return {dense.value, *dense.view.reshape(sizes)};
}

void Builder::output(const Handle& handle) {
  graph_.outputs.push_back(operand_of(handle));
}

Graph Builder::build() {
  verify(graph_);
  return graph_;
}

}  // namespace megakittens::ir
