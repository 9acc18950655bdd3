// Runs a record's byte code over a chunk of sixteen values in each lane. Rolled: one copy of every operation however
// long the code is.
#pragma once

#include "ops/pointwise/place.cuh"

namespace megakittens::ops {

using program::CodeOp;
using program::CodeWord;

namespace pointwise {

MK_DEVICE Lanes<float> relu(Lanes<float> x) {
  return device::max(x, Lanes<float>(0.0f));
}
MK_DEVICE Lanes<float> gelu_erf(Lanes<float> x) {
  return x * 0.5f * (device::erf(x * 0.70710678118654752f) + 1.0f);
}
MK_DEVICE Lanes<float> gelu_tanh_inner(Lanes<float> x) {
  return (x + x * x * x * 0.044715f) * 0.79788456080286536f;
}
MK_DEVICE Lanes<float> truth(Lanes<bool> mask) {
  return device::select(mask, Lanes<float>(1.0f), Lanes<float>(0.0f));
}

}  // namespace pointwise

/// The longer functions of one or two values. Relatives share one copy of the function that they are made of.
MK_DEVICE Lanes<float> run_function(uint32_t op, Lanes<float> a, Lanes<float> s, uint32_t type) {
  using namespace pointwise;
  const CodeOp code = static_cast<CodeOp>(op);
  const Lanes<bool> reversed = code == CodeOp::reverse_div || code == CodeOp::reverse_pow;
  switch (code) {
    case CodeOp::exp:
      return device::exp(a);
    case CodeOp::exp2:
      return device::exp2(a);
    case CodeOp::log:
      return device::log(a);
    case CodeOp::log2:
      return device::log2(a);
    case CodeOp::sqrt:
      return device::sqrt(a);
    case CodeOp::rsqrt:
      return device::rsqrt(a);
    case CodeOp::reciprocal:
      return device::reciprocal(a);
    case CodeOp::gelu_erf:
      return gelu_erf(a);
    case CodeOp::gelu_tanh:
    case CodeOp::tanh: {
      const Lanes<bool> gelu = code == CodeOp::gelu_tanh;
      const Lanes<float> value = device::tanh(device::select(gelu, gelu_tanh_inner(a), a));
      return device::select(gelu, a * 0.5f * (value + 1.0f), value);
    }
    case CodeOp::div:
    case CodeOp::reverse_div:
      return device::select(reversed, s, a) / device::select(reversed, a, s);
    case CodeOp::pow:
    case CodeOp::reverse_pow:
      return device::pow(device::select(reversed, s, a), device::select(reversed, a, s));
    case CodeOp::sigmoid:
    case CodeOp::silu:
    case CodeOp::silu_mul:
    case CodeOp::silu_round_mul_round: {
      const Lanes<bool> sigmoid = code == CodeOp::sigmoid;
      const Lanes<float> value = device::select(sigmoid, Lanes<float>(1.0f), a) / (device::exp(-a) + 1.0f);
      if (code == CodeOp::silu_mul) return value * s;
      if (code == CodeOp::silu_round_mul_round) return round_value(type, round_value(type, value) * s);
      return value;
    }
    default:
      return a;
  }
}

/// Rounds a chunk to the type.
MK_DEVICE void round_chunk(uint32_t type, Lanes<float> (&values)[kChunk]) {
  if (type == static_cast<uint32_t>(ElementType::bf16)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = device::round_to<device::Bf16>(values[i]);
  } else if (type == static_cast<uint32_t>(ElementType::f16)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = device::round_to<device::F16>(values[i]);
  } else if (type == static_cast<uint32_t>(ElementType::boolean)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = pointwise::truth(values[i] != 0.0f);
  }
}

/// Value i of temporary `number`. Chosen by selects: where branches choose, the compiler joins them to an access with a
/// computed number, and the temporaries go to memory.
template <int kTemporaries>
MK_DEVICE Lanes<float> pick_temporary(int number, const Lanes<float> (&temporaries)[kTemporaries][kChunk], uint32_t i) {
  Lanes<float> value = temporaries[0][i];
  MK_UNROLL for (int t = 1; t < kTemporaries; ++t) value =
      device::select(Lanes<bool>(number == t), temporaries[t][i], value);
  return value;
}

/// One word on the whole chunk. Short operations are written out sixteen times; functions run once in a loop that turns
/// the chunk round, so that each is in the code once.
template <int kTemporaries>
MK_DEVICE void run_word(const CodeWord word, Lanes<float> (&acc)[kChunk], Lanes<float> (&s)[kChunk],
                        Lanes<float> (&temporaries)[kTemporaries][kChunk]) {
  using device::select;
  using namespace pointwise;
#define MK_CASE(name, EXPRESSION)                     \
  case CodeOp::name:                                  \
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) { \
      const Lanes<float> a = acc[i];                  \
      acc[i] = EXPRESSION;                            \
    }                                                 \
    break;
  switch (static_cast<CodeOp>(word.op)) {
    MK_CASE(neg, -a)
    MK_CASE(abs, device::abs(a))
    MK_CASE(relu, relu(a))
    MK_CASE(add, a + s[i])
    MK_CASE(sub, a - s[i])
    MK_CASE(mul, a * s[i])
    MK_CASE(maximum, device::max(a, s[i]))
    MK_CASE(minimum, device::min(a, s[i]))
    MK_CASE(eq, truth(a == s[i]))
    MK_CASE(ne, truth(a != s[i]))
    MK_CASE(lt, truth(a < s[i]))
    MK_CASE(le, truth(a <= s[i]))
    MK_CASE(gt, truth(a > s[i]))
    MK_CASE(ge, truth(a >= s[i]))
    MK_CASE(reverse_sub, s[i] - a)
    MK_CASE(add_relu, relu(a + s[i]))
    case CodeOp::round:
    case CodeOp::round_add_round:
    case CodeOp::round_add_round_relu:
      MK_ROLLED for (uint32_t pass = 0; pass < 2; ++pass) {
        round_chunk(word.type, acc);
        if (static_cast<CodeOp>(word.op) == CodeOp::round) break;
        if (pass == 0) MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = acc[i] + s[i];
      }
      if (static_cast<CodeOp>(word.op) == CodeOp::round_add_round_relu)
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = relu(acc[i]);
      break;
    case CodeOp::load:
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = s[i];
      break;
    case CodeOp::keep:
      MK_UNROLL for (int t = 0; t < kTemporaries; ++t) {
        const Lanes<bool> chosen = word.third == t;
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) temporaries[t][i] = select(chosen, acc[i], temporaries[t][i]);
      }
      break;
    case CodeOp::select:
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] =
          select(acc[i] != 0.0f, s[i], pick_temporary<kTemporaries>(word.third, temporaries, i));
      break;
    default:
      MK_ROLLED for (uint32_t n = 0; n < kChunk; ++n) {
        turn_chunk(acc, run_function(word.op, acc[0], s[0], word.type));
        turn_chunk(s, s[0]);
      }
      break;
  }
#undef MK_CASE
}

/// Runs the current instruction's code on `acc`. `port.load(k, s)` reads operand k's chunk and `port.store(k, type,
/// acc)` writes output operand k's.
template <int kTemporaries, class B, class Port>
MK_DEVICE void run_code(const device::Context<B>& c, Lanes<float> (&acc)[kChunk], Port& port) {
  Lanes<float> temporaries[kTemporaries][kChunk];
  Lanes<float> s[kChunk];
  // Defined on every path, or the compiler keeps them alive around the loop.
  MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) {
    s[i] = 0.0f;
    MK_UNROLL for (int t = 0; t < kTemporaries; ++t) temporaries[t][i] = 0.0f;
  }
  const uint32_t count = c.code_count();
  MK_ROLLED for (uint32_t at = 0; at < count; ++at) {
    const CodeWord word = device::bit_cast<CodeWord>(c.code(at));
    if (static_cast<CodeOp>(word.op) == CodeOp::store) {
      port.store(word.third, acc);
      continue;
    }
    if (word.source < program::kSourceTemporary) {
      port.load(word.source, s);
    } else if (word.source < program::kSourceConstant) {
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) s[i] =
          pick_temporary<kTemporaries>(word.source - program::kSourceTemporary, temporaries, i);
    } else if (word.source != program::kNoSource) {
      const float value = c.code_constant(word.source - program::kSourceConstant);
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) s[i] = value;
    }
    run_word<kTemporaries>(word, acc, s, temporaries);
  }
}

/// Reads and writes every operand in global memory by ordinary accesses.
template <class B, class Place>
struct GlobalPort {
  const device::Context<B>& c;
  Place place;

  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    GlobalOperand(c.window(k)).load(place, values);
  }
  MK_DEVICE void store(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    if (!c.aborted) GlobalOperand(c.window(k)).store(place, values);
  }
};

}  // namespace megakittens::ops
