// A short straight-line program over one element: what a chain of elementwise operations does, or a GEMM's epilogue.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"

namespace megakittens::ir {

/// The rows of ir/operations.def. All compute in fp32.
enum class PointwiseOp : std::uint8_t {
#define MK_OPERATION(name, ...) name,
#include "ir/operations.def"
};

/// What type an operation's result has: see ir/operations.def.
enum class ResultRule : std::uint8_t { same, real, truth, branch, stated };

/// A row of ir/operations.def, in words.
struct PointwiseOperation {
  std::string_view name;
  int arity = 0;
  ResultRule result = ResultRule::same;
  std::string_view expression;
  std::string_view aten;  ///< overloads, separated by spaces; "neg" is aten.neg.default
};
std::span<const PointwiseOperation> pointwise_operations();
const PointwiseOperation& operation_of(PointwiseOp op);

std::string_view name_of(PointwiseOp op);
int arity_of(PointwiseOp op);
std::optional<PointwiseOp> find_pointwise_op(std::string_view text);
/// Throws FormatError naming the text and the operations there are.
PointwiseOp parse_pointwise_op(std::string_view text);

/// What a step reads: the node's operand `index`, the result of step `index`, the main value that the surrounding
/// instruction computes (a GEMM's accumulator), or a constant.
struct Ref {
  enum class Kind : std::uint8_t { operand, step, accumulator, constant };
  Kind kind = Kind::operand;
  int index = 0;
  double value = 0;
  bool operator==(const Ref&) const = default;

  static Ref operand(int index) { return {Kind::operand, index, 0}; }
  static Ref step(int index) { return {Kind::step, index, 0}; }
  static Ref accumulator() { return {Kind::accumulator, 0, 0}; }
  static Ref constant(double value) { return {Kind::constant, 0, value}; }
};

struct Step {
  PointwiseOp op = PointwiseOp::identity;
  std::vector<Ref> args;
  /// For `round`: the type to round to. Unused otherwise.
  DType dtype = DType::f32;
  bool operator==(const Step&) const = default;
};

/// Steps in order; each reads earlier steps only. `results[k]` is the step whose value the k-th output stores.
struct PointwiseBody {
  std::vector<Step> steps;
  std::vector<int> results;
  bool operator==(const PointwiseBody&) const = default;
};

/// "s0 = add(acc, %1); s1 = relu(s0); -> s1"
std::string to_string(const PointwiseBody& body);

/// The value of each result for one element: operands already converted to fp32. Reference for tests and `run`.
/// Throws InternalError where a reference is out of range.
std::vector<float> evaluate(const PointwiseBody& body, const std::vector<float>& operands, float accumulator);

/// Step `step` gives values of `dtype` without rounding: it chooses one of its arguments, or changes a sign or a
/// fraction, and those are such values. `operands`: the types of what the body reads.
bool is_exact(const PointwiseBody& body, int step, DType dtype, std::span<const DType> operands);

/// One operation on one element, every operation but `round`; arguments past the arity are ignored.
float apply(PointwiseOp op, float a, float b = 0, float c = 0);

/// Rounds to the storage type (round to nearest even) and back; bool gives 0 or 1.
float round_to(DType dtype, float value);

}  // namespace megakittens::ir
