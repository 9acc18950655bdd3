#include "ir/pointwise.hpp"

#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

constexpr PointwiseOperation kOperations[] = {
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) \
  {#name, arity, ResultRule::result, #expression, aten},
#include "ir/operations.def"
};

std::string to_string(const Ref& ref) {
  switch (ref.kind) {
    case Ref::Kind::operand:
      return fmt::format("%{}", ref.index);
    case Ref::Kind::step:
      return fmt::format("s{}", ref.index);
    case Ref::Kind::accumulator:
      return "acc";
    case Ref::Kind::constant:
      return fmt::format("{}", ref.value);
  }
  return "?";
}

float round_bf16(float value) {
  if (std::isnan(value)) return std::numeric_limits<float>::quiet_NaN();
  auto bits = std::bit_cast<std::uint32_t>(value);
  bits += 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(bits & 0xffff0000U);
}

float round_f16(float value) {
  if (std::isnan(value) || std::isinf(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  // One unit in the last place: 11 significant bits, and 2^-24 below the normal range.
  double unit = std::ldexp(1.0, std::max(exponent - 11, -24));
  double rounded = std::nearbyint(static_cast<double>(value) / unit) * unit;
  if (std::fabs(rounded) > 65504.0) return std::copysign(std::numeric_limits<float>::infinity(), value);
  return std::copysign(static_cast<float>(rounded), value);
}

}  // namespace

namespace scalar {
namespace {

// What the expressions of ir/operations.def are made of, for one float. NOLINTBEGIN(bugprone-macro-parentheses)
#define MK_FUNCTION(name, gpu, host)        \
  [[maybe_unused]] float name(float x) { \
    return host;                            \
  }
#include "ir/operations.def"
float max(float a, float b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
}
float min(float a, float b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
}
float pow(float a, float b) {
  return std::pow(a, b);
}
float divide(float a, float b) {
  return a / b;
}
float quotient(float a, float b) {
  return a / b;
}
float select(bool condition, float yes, float no) {
  return condition ? yes : no;
}
float truth(bool condition) {
  return condition ? 1.0F : 0.0F;
}

float apply(PointwiseOp op, float a, [[maybe_unused]] float b, [[maybe_unused]] float c) {
  switch (op) {
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) \
  case PointwiseOp::name:                                                \
    return expression;
#include "ir/operations.def"
  }
  MK_CHECK(false, "pointwise operation {} is not in the table", static_cast<int>(op));
  return 0;
}
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace
}  // namespace scalar

float apply(PointwiseOp op, float a, float b, float c) {
  MK_CHECK(op != PointwiseOp::round, "round needs a type");
  return scalar::apply(op, a, b, c);
}

std::span<const PointwiseOperation> pointwise_operations() {
  return kOperations;
}
const PointwiseOperation& operation_of(PointwiseOp op) {
  return kOperations[static_cast<std::size_t>(op)];
}

std::string_view name_of(PointwiseOp op) {
  return operation_of(op).name;
}
int arity_of(PointwiseOp op) {
  return operation_of(op).arity;
}

std::optional<PointwiseOp> find_pointwise_op(std::string_view text) {
  for (const PointwiseOperation& operation : kOperations)
    if (operation.name == text) return static_cast<PointwiseOp>(&operation - kOperations);
  return std::nullopt;
}

PointwiseOp parse_pointwise_op(std::string_view text) {
  if (std::optional<PointwiseOp> op = find_pointwise_op(text)) return *op;
  std::vector<std::string_view> known;
  for (const PointwiseOperation& operation : kOperations) known.push_back(operation.name);
  throw FormatError(fmt::format("unknown pointwise operation '{}'; known are {}", text, fmt::join(known, ", ")));
}

std::string to_string(const PointwiseBody& body) {
  std::string text;
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    const Step& step = body.steps[i];
    std::vector<std::string> args;
    for (const Ref& ref : step.args) args.push_back(to_string(ref));
    if (step.op == PointwiseOp::round) args.emplace_back(name_of(step.dtype));
    text += fmt::format("s{} = {}({}); ", i, name_of(step.op), fmt::join(args, ", "));
  }
  std::vector<std::string> results;
  for (int result : body.results) results.push_back(fmt::format("s{}", result));
  return fmt::format("{}-> {}", text, fmt::join(results, ", "));
}

bool is_exact(const PointwiseBody& body, int step, DType dtype, std::span<const DType> operands) {
  const Step& made = body.steps[static_cast<std::size_t>(step)];
  std::size_t first = 0;  // of the arguments that count
  switch (made.op) {
    case PointwiseOp::round:
      return made.dtype == dtype;  // 65504 of f16 becomes 65536 in bf16, which is no f16
    case PointwiseOp::where:
      first = 1;
      break;
    case PointwiseOp::identity:
    case PointwiseOp::neg:
    case PointwiseOp::abs:
    case PointwiseOp::relu:
    case PointwiseOp::maximum:
    case PointwiseOp::minimum:
    case PointwiseOp::floor:
      break;
    default:
      return operation_of(made.op).result == ResultRule::truth;
  }
  for (std::size_t i = first; i < made.args.size(); ++i) {
    const Ref& ref = made.args[i];
    const auto value = static_cast<float>(ref.value);
    const bool exact = ref.kind == Ref::Kind::operand    ? operands[static_cast<std::size_t>(ref.index)] == dtype
                       : ref.kind == Ref::Kind::step     ? is_exact(body, ref.index, dtype, operands)
                       : ref.kind == Ref::Kind::constant ? round_to(dtype, value) == value
                                                         : false;
    if (!exact) return false;
  }
  return true;
}

float round_to(DType dtype, float value) {
  switch (dtype) {
    case DType::bf16:
      return round_bf16(value);
    case DType::f16:
      return round_f16(value);
    case DType::f32:
      return value;
    case DType::boolean:
      return value != 0 ? 1.0F : 0.0F;
    case DType::i64:
    case DType::i32:
      return std::trunc(value);
  }
  return value;
}

std::vector<float> evaluate(const PointwiseBody& body, const std::vector<float>& operands, float accumulator) {
  std::vector<float> values;
  auto read = [&](const Ref& ref) -> float {
    switch (ref.kind) {
      case Ref::Kind::operand:
        MK_CHECK(ref.index >= 0 && ref.index < static_cast<int>(operands.size()), "operand {} of {}", ref.index,
                 operands.size());
        return operands[ref.index];
      case Ref::Kind::step:
        MK_CHECK(ref.index >= 0 && ref.index < static_cast<int>(values.size()), "step {} of {}", ref.index,
                 values.size());
        return values[ref.index];
      case Ref::Kind::accumulator:
        return accumulator;
      case Ref::Kind::constant:
        return static_cast<float>(ref.value);
    }
    return 0;
  };
  for (const Step& step : body.steps) {
    std::array<float, 3> args{};
    for (std::size_t i = 0; i < step.args.size() && i < 3; ++i) args[i] = read(step.args[i]);
    values.push_back(step.op == PointwiseOp::round ? round_to(step.dtype, args[0])
                                                   : apply(step.op, args[0], args[1], args[2]));
  }
  std::vector<float> results;
  for (int result : body.results) results.push_back(read(Ref::step(result)));
  return results;
}

}  // namespace megakittens::ir
