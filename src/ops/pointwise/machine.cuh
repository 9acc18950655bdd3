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
MK_DEVICE Lanes<float> sigmoid(Lanes<float> x) {
  return Lanes<float>(1.0f) / (device::exp(-x) + 1.0f);
}
MK_DEVICE Lanes<float> silu(Lanes<float> x) {
  return x / (device::exp(-x) + 1.0f);
}
MK_DEVICE Lanes<float> gelu_erf(Lanes<float> x) {
  return x * 0.5f * (device::erf(x * 0.70710678118654752f) + 1.0f);
}
MK_DEVICE Lanes<float> gelu_tanh(Lanes<float> x) {
  const Lanes<float> inner = (x + x * x * x * 0.044715f) * 0.79788456080286536f;
  return x * 0.5f * (device::tanh(inner) + 1.0f);
}
MK_DEVICE Lanes<float> truth(Lanes<bool> mask) {
  return device::select(mask, Lanes<float>(1.0f), Lanes<float>(0.0f));
}

}  // namespace pointwise

/// The longer functions of one or two values.
MK_DEVICE Lanes<float> run_function(uint32_t op, Lanes<float> a, Lanes<float> s, uint32_t type) {
  using namespace pointwise;
  switch (static_cast<CodeOp>(op)) {
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
      return gelu_tanh(a);
    case CodeOp::silu:
      return silu(a);
    case CodeOp::sigmoid:
      return sigmoid(a);
    case CodeOp::tanh:
      return device::tanh(a);
    case CodeOp::div:
      return a / s;
    case CodeOp::reverse_div:
      return s / a;
    case CodeOp::pow:
      return device::pow(a, s);
    case CodeOp::reverse_pow:
      return device::pow(s, a);
    case CodeOp::silu_mul:
      return silu(a) * s;
    case CodeOp::silu_round_mul_round:
      return round_value(type, round_value(type, silu(a)) * s);
    default:
      return a;
  }
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
    MK_CASE(round, round_value(word.type, a))
    MK_CASE(reverse_sub, s[i] - a)
    MK_CASE(add_relu, relu(a + s[i]))
    MK_CASE(round_add_round_relu, relu(round_value(word.type, round_value(word.type, a) + s[i])))
    MK_CASE(round_add_round, round_value(word.type, round_value(word.type, a) + s[i]))
    case CodeOp::load:
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = s[i];
      break;
    case CodeOp::keep:
      MK_UNROLL for (int t = 0; t < kTemporaries; ++t) if (word.third == t)
          MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) temporaries[t][i] = acc[i];
      break;
    case CodeOp::select:
      MK_UNROLL for (int t = 0; t < kTemporaries; ++t) if (word.third == t)
          MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = select(acc[i] != 0.0f, s[i], temporaries[t][i]);
      break;
    default:
      MK_ROLLED for (uint32_t n = 0; n < kChunk; ++n) {
        const Lanes<float> value = run_function(word.op, acc[0], s[0], word.type), spent = s[0];
        MK_UNROLL for (uint32_t i = 0; i + 1 < kChunk; ++i) {
          acc[i] = acc[i + 1];
          s[i] = s[i + 1];
        }
        acc[kChunk - 1] = value;
        s[kChunk - 1] = spent;
      }
      break;
  }
#undef MK_CASE
}

/// Runs all of `record`'s code on `acc`. `port.load(k, s)` reads operand k's chunk and `port.store(k, type, acc)`
/// writes output operand k's.
template <int kTemporaries, class Port>
MK_DEVICE void run_code(const program::NodeRecord* record, Lanes<float> (&acc)[kChunk], Port& port) {
  Lanes<float> temporaries[kTemporaries][kChunk];
  Lanes<float> s[kChunk];
  // Defined on every path, or the compiler keeps them alive around the loop.
  MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) {
    s[i] = 0.0f;
    MK_UNROLL for (int t = 0; t < kTemporaries; ++t) temporaries[t][i] = 0.0f;
  }
  const uint32_t count = device::constant(&record->code_count);
  MK_ROLLED for (uint32_t at = 0; at < count; ++at) {
    const CodeWord word = device::constant(record->code + at);
    if (static_cast<CodeOp>(word.op) == CodeOp::store) {
      port.store(word.third, acc);
      continue;
    }
    if (word.source < program::kSourceTemporary) {
      port.load(word.source, s);
    } else if (word.source < program::kSourceConstant) {
      MK_UNROLL for (int t = 0; t < kTemporaries; ++t) if (word.source == program::kSourceTemporary + t)
          MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) s[i] = temporaries[t][i];
    } else if (word.source != program::kNoSource) {
      const float value = device::constant(record->constants + (word.source - program::kSourceConstant));
      MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) s[i] = value;
    }
    run_word<kTemporaries>(word, acc, s, temporaries);
  }
}

/// Reads and writes every operand in global memory by ordinary accesses.
template <class B>
struct GlobalPort {
  const device::Context<B>& c;
  const program::NodeRecord* record;
  Place place;

  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    GlobalOperand(c, record->operands[k], place.outer0, place.outer1).load(place, values);
  }
  MK_DEVICE void store(uint32_t k, const Lanes<float> (&values)[kChunk]) const {
    if (!c.aborted) GlobalOperand(c, record->operands[k], place.outer0, place.outer1).store(place, values);
  }
};

}  // namespace megakittens::ops
