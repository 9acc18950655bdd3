#include "ir/pointwise.hpp"

#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

struct Entry {
  std::string_view name;
  int arity;
};
constexpr Entry kOps[] = {
#define MK_X(name, arity) {#name, arity},
    MK_POINTWISE_OPS(MK_X)
#undef MK_X
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

float nan_max(float a, float b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a > b ? a : b;
}
float nan_min(float a, float b) {
  return std::isnan(a) ? a : std::isnan(b) ? b : a < b ? a : b;
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

float apply(PointwiseOp op, float a, float b, float c) {
  switch (op) {
    case PointwiseOp::identity:
      return a;
    case PointwiseOp::neg:
      return -a;
    case PointwiseOp::abs:
      return std::fabs(a);
    case PointwiseOp::exp:
      return std::exp(a);
    case PointwiseOp::exp2:
      return std::exp2(a);
    case PointwiseOp::log:
      return std::log(a);
    case PointwiseOp::log2:
      return std::log2(a);
    case PointwiseOp::sqrt:
      return std::sqrt(a);
    case PointwiseOp::rsqrt:
      return 1.0F / std::sqrt(a);
    case PointwiseOp::reciprocal:
      return 1.0F / a;
    case PointwiseOp::relu:
      return std::isnan(a) ? a : a > 0 ? a : 0.0F;
    case PointwiseOp::gelu_erf:
      return 0.5F * a * (1.0F + std::erf(a * 0.70710678118654752F));
    case PointwiseOp::gelu_tanh:
      return 0.5F * a * (1.0F + std::tanh(0.79788456080286536F * (a + 0.044715F * a * a * a)));
    case PointwiseOp::silu:
      return a / (1.0F + std::exp(-a));
    case PointwiseOp::sigmoid:
      return 1.0F / (1.0F + std::exp(-a));
    case PointwiseOp::tanh:
      return std::tanh(a);
    case PointwiseOp::add:
      return a + b;
    case PointwiseOp::sub:
      return a - b;
    case PointwiseOp::mul:
      return a * b;
    case PointwiseOp::div:
      return a / b;
    case PointwiseOp::maximum:
      return nan_max(a, b);
    case PointwiseOp::minimum:
      return nan_min(a, b);
    case PointwiseOp::pow:
      return std::pow(a, b);
    case PointwiseOp::eq:
      return a == b ? 1.0F : 0.0F;
    case PointwiseOp::ne:
      return a != b ? 1.0F : 0.0F;
    case PointwiseOp::lt:
      return a < b ? 1.0F : 0.0F;
    case PointwiseOp::le:
      return a <= b ? 1.0F : 0.0F;
    case PointwiseOp::gt:
      return a > b ? 1.0F : 0.0F;
    case PointwiseOp::ge:
      return a >= b ? 1.0F : 0.0F;
    case PointwiseOp::where:
      return a != 0 ? b : c;
    case PointwiseOp::round:
      break;
  }
  MK_CHECK(false, "pointwise operation {} has no reference", static_cast<int>(op));
  return 0;
}

std::string_view name_of(PointwiseOp op) {
  return kOps[static_cast<std::size_t>(op)].name;
}
int arity_of(PointwiseOp op) {
  return kOps[static_cast<std::size_t>(op)].arity;
}

PointwiseOp parse_pointwise_op(std::string_view text) {
  for (std::size_t i = 0; i < std::size(kOps); ++i)
    if (kOps[i].name == text) return static_cast<PointwiseOp>(i);
  throw FormatError(fmt::format("unknown pointwise operation '{}'", text));
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
