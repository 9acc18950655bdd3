// Functions of one word, of two, of three: p.a words each, operands after one another in the input. p.b is the
// function's number. The tables' last columns are read by the host: the largest distance between the two machines, in
// units in the last place. It is what the CUDA Programming Guide ("Mathematical Functions") or the PTX manual allows
// the device, and 1 or 2 for the host's library; 0 is equality.
#pragma once

#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

/// X(name, expression of the float f and the word w, ulps)
#define MK_TWIN_UNARY(X)                                                     \
  X(exp, as_word(device::exp(f)), 2)                                         \
  X(exp2, as_word(device::exp2(f)), 3)                                       \
  X(log, as_word(device::log(f)), 2)                                         \
  X(log2, as_word(device::log2(f)), 2)                                       \
  X(log1p, as_word(device::log1p(f)), 2)                                     \
  X(expm1, as_word(device::expm1(f)), 2)                                     \
  X(sqrt, as_word(device::sqrt(f)), 0)                                       \
  X(rsqrt, as_word(device::rsqrt(f)), 4)                                     \
  X(reciprocal, as_word(device::reciprocal(f)), 0)                           \
  X(tanh, as_word(device::tanh(f)), 3)                                       \
  X(erf, as_word(device::erf(f)), 3)                                         \
  X(abs, as_word(device::abs(f)), 0)                                         \
  X(floor, as_word(device::floor(f)), 0)                                     \
  X(ceil, as_word(device::ceil(f)), 0)                                       \
  X(trunc, as_word(device::trunc(f)), 0)                                     \
  X(round, as_word(device::round(f)), 0)                                     \
  X(is_nan, convert<uint32_t>(device::is_nan(f)), 0)                         \
  X(exp2_approx, as_word(device::exp2_approx(f)), 5)                         \
  X(reciprocal_approx, as_word(device::reciprocal_approx(f)), 2)             \
  X(tanh_approx, as_word(device::tanh_approx(f)), 8193)                      \
  X(sqrt_approx, as_word(device::sqrt_approx(f)), 2)                         \
  X(divide_approx, as_word(device::divide_approx(3.0f, f)), 3)               \
  X(to_bf16, convert<uint32_t>(bit_cast<uint16_t>(device::to_bf16(f))), 0)   \
  X(to_f16, convert<uint32_t>(bit_cast<uint16_t>(device::to_f16(f))), 0)     \
  X(round_to_bf16, as_word(device::round_to<Bf16>(f)), 0)                    \
  X(round_to_f16, as_word(device::round_to<F16>(f)), 0)                      \
  X(f16_low, as_word(device::f16_low(w)), 0)                                 \
  X(f16_high, as_word(device::f16_high(w)), 0)                               \
  X(bf16_low, as_word(device::bf16_low(w)), 0)                               \
  X(bf16_high, as_word(device::bf16_high(w)), 0)                             \
  X(to_i32, as_word(convert<int32_t>(f)), 0)                                 \
  X(to_u32, convert<uint32_t>(f), 0)                                         \
  X(from_i32, as_word(convert<float>(bit_cast<int32_t>(w))), 0)              \
  X(from_u32, as_word(convert<float>(w)), 0)
/// X(name, expression of the floats f, g and the words w, v, ulps)
#define MK_TWIN_BINARY(X)                                                    \
  X(add, as_word(f + g), 0)                                                  \
  X(subtract, as_word(f - g), 0)                                             \
  X(multiply, as_word(f * g), 0)                                             \
  X(divide, as_word(f / g), 0)                                               \
  X(power, as_word(device::pow(f, g)), 5)                                    \
  X(max_float, as_word(device::max(f, g)), 0)                                \
  X(min_float, as_word(device::min(f, g)), 0)                                \
  X(less, convert<uint32_t>(f < g), 0)                                       \
  X(equal, convert<uint32_t>(f == g), 0)                                     \
  X(pack_bf16, device::pack<Bf16>(f, g), 0)                                  \
  X(pack_f16, device::pack<F16>(f, g), 0)                                    \
  X(max_i32, as_word(device::max(as_int(w), as_int(v))), 0)                  \
  X(min_i32, as_word(device::min(as_int(w), as_int(v))), 0)                  \
  X(max_u32, device::max(w, v), 0)                                           \
  X(min_u32, device::min(w, v), 0)                                           \
  X(multiply_u32, w* v, 0)                                                   \
  X(divide_u32, w / v, 0)                                                    \
  X(remainder_u32, w % v, 0)                                                 \
  X(shift_left, w << (v & 31u), 0)                                           \
  X(shift_right_i32, as_word(as_int(w) >> as_int(v & 31u)), 0)               \
  X(select, device::select(w < v, w, v ^ 1u), 0)

enum class Unary : uint32_t {
#define MK_NAME(name, expression, ulps) name,
  MK_TWIN_UNARY(MK_NAME)
};
enum class Binary : uint32_t { MK_TWIN_BINARY(MK_NAME) };
#undef MK_NAME

template <class T>
MK_DEVICE auto as_word(const T& x) {
  return bit_cast<uint32_t>(x);
}
template <class T>
MK_DEVICE auto as_int(const T& x) {
  return bit_cast<int32_t>(x);
}

MK_DEVICE Lanes<uint32_t> apply(Unary function, Lanes<uint32_t> w) {
  const Lanes<float> f = bit_cast<float>(w);
  switch (function) {
#define MK_CASE(name, expression, ulps) \
  case Unary::name:                     \
    return expression;
    MK_TWIN_UNARY(MK_CASE)
#undef MK_CASE
  }
  return w;
}

MK_DEVICE Lanes<uint32_t> apply(Binary function, Lanes<uint32_t> w, Lanes<uint32_t> v) {
  const Lanes<float> f = bit_cast<float>(w), g = bit_cast<float>(v);
  switch (function) {
#define MK_CASE(name, expression, ulps) \
  case Binary::name:                    \
    return expression;
    MK_TWIN_BINARY(MK_CASE)
#undef MK_CASE
  }
  return w;
}

MK_TWIN(twin_unary, 32) {
  for (uint32_t i = 0; i < p.a; i += 32) word_out(p, i, apply(static_cast<Unary>(p.b), word_in(p, i)));
}
MK_TWIN(twin_binary, 32) {
  for (uint32_t i = 0; i < p.a; i += 32)
    word_out(p, i, apply(static_cast<Binary>(p.b), word_in(p, i), word_in(p, i, 4 * p.a)));
}
MK_TWIN(twin_fma, 32) {
  for (uint32_t i = 0; i < p.a; i += 32) {
    const Lanes<float> x = bit_cast<float>(word_in(p, i)), y = bit_cast<float>(word_in(p, i, 4 * p.a)),
                       z = bit_cast<float>(word_in(p, i, 8 * p.a));
    word_out(p, i, as_word(device::fma(x, y, z)));
  }
}

}  // namespace megakittens::twins
