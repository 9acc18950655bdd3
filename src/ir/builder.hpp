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
  // relu(x), add(a, b), ..: each operation of the table.
#define MK_BUILD_1(name) \
  Handle name(const Handle& a) { return pointwise(PointwiseOp::name, {a}); }
#define MK_BUILD_2(name) \
  Handle name(const Handle& a, const Handle& b) { return pointwise(PointwiseOp::name, {a, b}); }
#define MK_BUILD_3(name) \
  Handle name(const Handle& a, const Handle& b, const Handle& c) { return pointwise(PointwiseOp::name, {a, b, c}); }
#define MK_OPERATION(name, arity, ...) MK_BUILD_##arity(name)
#include "ir/operations.def"
#undef MK_BUILD_1
#undef MK_BUILD_2
#undef MK_BUILD_3
  /// A chain, or any body; operands broadcast to `shape`.
  Handle pointwise_body(PointwiseBody body, const std::vector<Handle>& args, DType result);
  Handle cast(const Handle& x, DType dtype);
  /// [.., M, K] x [.., K, N], batch dimensions broadcast. Throws UserError naming both shapes.
  Handle matmul(const Handle& a, const Handle& b);
  /// A dense copy of what the handle shows.
  Handle copy(const Handle& x);
  /// Writes `source` into what `target` shows, in place; the result is the whole new version of the target's storage.
  Handle assign(const Handle& target, const Handle& source);
  /// Over the named dimensions, or over all where none is named; negative ones count from the end. any and all give
  /// bool, argmax and argmin i64, the others x's dtype. Throws UserError for a dimension that x lacks.
  Handle reduce(Reduction kind, const Handle& x, std::vector<int> dims, bool keep = false);
  /// result[i..] = x[i.., index[i..], i..] with the index in dimension `dim`, as torch.gather; the result has the
  /// index's shape. scatter writes values[i..] there into a copy of x.
  Handle gather(const Handle& x, int dim, const Handle& index);
  Handle scatter(ScatterKind kind, const Handle& x, int dim, const Handle& index, const Handle& values);
  Handle scan(ScanKind kind, const Handle& x, int dim);
  /// An operation of no family: only a user's instruction type takes it.
  Handle call(std::string target, const std::vector<Handle>& args, Tensor result);
  /// With several results, and what it is called with besides tensors.
  std::vector<Handle> call(std::string target, const std::vector<Handle>& args, std::vector<Tensor> results,
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
