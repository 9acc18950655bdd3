// Building a graph: inputs, expressions over them, outputs. Shapes broadcast and are checked as PyTorch does.
#pragma once

#include <megakittens/graph.hpp>
#include <megakittens/instruction_type.hpp>

namespace megakittens {

/// A tensor of a graph that is being built, or a view of one: views cost nothing, the next operation reads through
/// them. Holds its builder's graph; cheap to copy.
class Expression {
 public:
  DType dtype() const;
  const Shape& shape() const;

  // Views. Dimensions count as in PyTorch, negative ones from the end. Throw UserError with the values where an
  // argument is out of range.
  Expression select(int dim, std::int64_t index) const;
  Expression slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  Expression transpose(int first, int second) const;
  Expression permute(const std::vector<std::int64_t>& order) const;
  Expression expand(const Shape& sizes) const;
  Expression unsqueeze(int dim) const;
  Expression squeeze(int dim) const;
  /// A view where the elements allow one, else of a copy. One size may be -1.
  Expression reshape(const Shape& sizes) const;

  Expression cast(DType dtype) const;
  /// A dense copy.
  Expression copy() const;
  /// Writes `source` into what this shows, in place. The result is the whole tensor after the write.
  Expression assign(const Expression& source) const;

 private:
  friend class Builder;
  friend Expression apply(std::string_view, const std::vector<Expression>&);
  friend Expression apply(std::string_view, const Expression&, double);
  friend Expression matmul(const Expression&, const Expression&);
  friend Expression call(const std::string&, const std::vector<Expression>&, DType, const Shape&, const Arguments&);
  struct State;
  explicit Expression(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// [.., M, K] x [.., K, N] with fp32 accumulation; batch dimensions broadcast.
Expression matmul(const Expression& a, const Expression& b);

/// An elementwise operation by name (docs/reference/operations.md); operations.hpp has each as a function. Throws
/// FormatError for another name, UserError for another number of arguments or shapes that do not broadcast.
Expression apply(std::string_view operation, const std::vector<Expression>& arguments);
Expression apply(std::string_view operation, const Expression& argument, double scalar);

inline Expression operator+(const Expression& a, const Expression& b) {
  return apply("add", {a, b});
}
inline Expression operator-(const Expression& a, const Expression& b) {
  return apply("sub", {a, b});
}
inline Expression operator*(const Expression& a, const Expression& b) {
  return apply("mul", {a, b});
}
inline Expression operator/(const Expression& a, const Expression& b) {
  return apply("div", {a, b});
}
inline Expression operator+(const Expression& a, double scalar) {
  return apply("add", a, scalar);
}
inline Expression operator-(const Expression& a, double scalar) {
  return apply("sub", a, scalar);
}
inline Expression operator*(const Expression& a, double scalar) {
  return apply("mul", a, scalar);
}
inline Expression operator/(const Expression& a, double scalar) {
  return apply("div", a, scalar);
}

/// A call of an operation that a user's instruction type takes ("mylib::rms_norm"), with what it passes besides
/// tensors. The result is dense. Building and printing need no such type, scheduling does.
Expression call(const std::string& operation, const std::vector<Expression>& inputs, DType dtype, const Shape& shape,
                const Arguments& arguments = {});

class Builder {
 public:
  explicit Builder(std::string name = "graph");

  Expression input(std::string name, DType dtype, Shape shape);
  void output(const Expression& expression);
  /// The name of the next operation, and where the user wrote it and those after it: for errors and reports.
  void at(std::string name, std::string source);
  /// The graph so far. Throws FormatError where it breaks a rule.
  Graph build() const;

 private:
  struct State;
  friend class Expression;
  friend Expression apply(std::string_view, const std::vector<Expression>&);
  friend Expression apply(std::string_view, const Expression&, double);
  friend Expression matmul(const Expression&, const Expression&);
  friend Expression call(const std::string&, const std::vector<Expression>&, DType, const Shape&, const Arguments&);
  std::shared_ptr<State> state_;
};

}  // namespace megakittens
