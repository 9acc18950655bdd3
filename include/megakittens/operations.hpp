// Elementwise operations as functions. Made from src/ir/operations.def by tests/golden/operations_test.cpp.
#pragma once

#include <megakittens/builder.hpp>

namespace megakittens {

// Shapes broadcast. Each throws UserError naming the shapes where they do not.
inline Expression neg(const Expression& a) {
  return apply("neg", {a});
}
inline Expression abs(const Expression& a) {
  return apply("abs", {a});
}
inline Expression exp(const Expression& a) {
  return apply("exp", {a});
}
inline Expression exp2(const Expression& a) {
  return apply("exp2", {a});
}
inline Expression log(const Expression& a) {
  return apply("log", {a});
}
inline Expression log2(const Expression& a) {
  return apply("log2", {a});
}
inline Expression sqrt(const Expression& a) {
  return apply("sqrt", {a});
}
inline Expression rsqrt(const Expression& a) {
  return apply("rsqrt", {a});
}
inline Expression reciprocal(const Expression& a) {
  return apply("reciprocal", {a});
}
inline Expression relu(const Expression& a) {
  return apply("relu", {a});
}
inline Expression gelu_erf(const Expression& a) {
  return apply("gelu_erf", {a});
}
inline Expression gelu_tanh(const Expression& a) {
  return apply("gelu_tanh", {a});
}
inline Expression silu(const Expression& a) {
  return apply("silu", {a});
}
inline Expression sigmoid(const Expression& a) {
  return apply("sigmoid", {a});
}
inline Expression tanh(const Expression& a) {
  return apply("tanh", {a});
}
inline Expression add(const Expression& a, const Expression& b) {
  return apply("add", {a, b});
}
inline Expression sub(const Expression& a, const Expression& b) {
  return apply("sub", {a, b});
}
inline Expression mul(const Expression& a, const Expression& b) {
  return apply("mul", {a, b});
}
inline Expression div(const Expression& a, const Expression& b) {
  return apply("div", {a, b});
}
inline Expression maximum(const Expression& a, const Expression& b) {
  return apply("maximum", {a, b});
}
inline Expression minimum(const Expression& a, const Expression& b) {
  return apply("minimum", {a, b});
}
inline Expression pow(const Expression& a, const Expression& b) {
  return apply("pow", {a, b});
}
inline Expression eq(const Expression& a, const Expression& b) {
  return apply("eq", {a, b});
}
inline Expression ne(const Expression& a, const Expression& b) {
  return apply("ne", {a, b});
}
inline Expression lt(const Expression& a, const Expression& b) {
  return apply("lt", {a, b});
}
inline Expression le(const Expression& a, const Expression& b) {
  return apply("le", {a, b});
}
inline Expression gt(const Expression& a, const Expression& b) {
  return apply("gt", {a, b});
}
inline Expression ge(const Expression& a, const Expression& b) {
  return apply("ge", {a, b});
}
inline Expression where(const Expression& a, const Expression& b, const Expression& c) {
  return apply("where", {a, b, c});
}
inline Expression sin(const Expression& a) {
  return apply("sin", {a});
}
inline Expression cos(const Expression& a) {
  return apply("cos", {a});
}
inline Expression floor(const Expression& a) {
  return apply("floor", {a});
}
inline Expression erf(const Expression& a) {
  return apply("erf", {a});
}
inline Expression log1p(const Expression& a) {
  return apply("log1p", {a});
}

}  // namespace megakittens
