// Builds a graph in C++. Handles are values seen through views; operations check shapes as PyTorch does.
#pragma once

#include "ir/graph.hpp"

namespace megakittens::ir {

/// A tensor expression: a value and the view of it that the next operation reads.
struct Handle {
  ValueId value = -1;
  View view;
};

class Builder {
 public:
  explicit Builder(std::string name = "graph");

  Handle input(std::string name, DType dtype, Extents shape);
  Handle input(std::string name, Tensor tensor);
  DType dtype_of(const Handle& handle) const;

  /// Numpy broadcasting; the result has the first floating operand's dtype, bool for comparisons.
  /// Throws UserError naming the operation and the shapes.
  Handle pointwise(PointwiseOp op, const std::vector<Handle>& args);
  Handle pointwise(PointwiseOp op, const Handle& a, double scalar);
  Handle relu(const Handle& x) { return pointwise(PointwiseOp::relu, {x}); }
  Handle add(const Handle& a, const Handle& b) { return pointwise(PointwiseOp::add, {a, b}); }
  Handle mul(const Handle& a, const Handle& b) { return pointwise(PointwiseOp::mul, {a, b}); }
  /// A chain, or any body; operands broadcast to `shape`.
  Handle pointwise_body(PointwiseBody body, const std::vector<Handle>& args, DType result,
                        std::string op = "pointwise");
  Handle cast(const Handle& x, DType dtype);
  /// [.., M, K] x [.., K, N], batch dimensions broadcast. Throws UserError naming both shapes.
  Handle matmul(const Handle& a, const Handle& b);
  /// A dense copy of what the handle shows.
  Handle copy(const Handle& x);
  /// Writes `source` into what `target` shows, in place; the result is the whole new version of the target's storage.
  Handle assign(const Handle& target, const Handle& source);
  Handle opaque(std::string target, const std::vector<Handle>& args, Tensor result);
  /// With several results, and what it is called with besides tensors: "argument." is put before each name.
  std::vector<Handle> opaque(std::string target, const std::vector<Handle>& args, std::vector<Tensor> results,
                             const std::map<std::string, Attribute>& arguments);

  /// The reshape's view where it is affine, else of a dense copy.
  Handle reshape(const Handle& x, const Extents& sizes);
  Handle whole(ValueId value) const;

  /// Name and source line of the nodes made next.
  void at(std::string name, std::string source);
  void output(const Handle& handle);
  const Graph& graph() const { return graph_; }
  /// The finished, verified graph.
  Graph build();

 private:
  Handle add_node(Node node, Tensor result, std::optional<Mutation> mutation = std::nullopt);

  Graph graph_;
  std::string next_name_;
  std::string next_source_;
};

}  // namespace megakittens::ir
