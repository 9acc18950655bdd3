// Runs a record's byte code over a chunk of sixteen values in each lane. Rolled: one copy of every operation however
// long the code is.
#pragma once

#include "ops/pointwise/place.cuh"

namespace megakittens::ops {

using program::CodeOp;
using program::CodeWord;

/// The operations of the form `function`, of one value or two.
MK_DEVICE Lanes<float> run_function(CodeOp op, Lanes<float> a, Lanes<float> b) {
  using namespace device;  // what the expressions are made of
  switch (op) {
#define MK_ROW_brief(name, expression)
#define MK_ROW_ternary(name, expression)
#define MK_ROW_special(name, expression)
#define MK_ROW_function(name, expression) \
  case CodeOp::name:                      \
    return expression;
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, (expression))
#include "ir/operations.def"
#undef MK_ROW_brief
#undef MK_ROW_ternary
#undef MK_ROW_special
#undef MK_ROW_function
    default:
      return a;
  }
}

/// The same with the machine's own words that are made of them.
MK_DEVICE Lanes<float> run_function_word(const CodeWord word, Lanes<float> a, Lanes<float> s) {
  CodeOp op = static_cast<CodeOp>(word.op);
  const bool with_product = op == CodeOp::silu_mul || op == CodeOp::silu_round_mul_round;
  const bool rounds = op == CodeOp::silu_round_mul_round;
  const Lanes<bool> reversed = op == CodeOp::reverse_div || op == CodeOp::reverse_pow;
  if (with_product) op = CodeOp::silu;
  if (op == CodeOp::reverse_div) op = CodeOp::div;
  if (op == CodeOp::reverse_pow) op = CodeOp::pow;
  const Lanes<float> value = run_function(op, device::select(reversed, s, a), device::select(reversed, a, s));
  if (!with_product) return value;
  return rounds ? round_value(word.type, round_value(word.type, value) * s) : value * s;
}

/// Rounds a chunk to the type.
MK_DEVICE void round_chunk(uint32_t type, Lanes<float> (&values)[kChunk]) {
  if (type == static_cast<uint32_t>(ElementType::bf16)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = device::round_to<device::Bf16>(values[i]);
  } else if (type == static_cast<uint32_t>(ElementType::f16)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = device::round_to<device::F16>(values[i]);
  } else if (type == static_cast<uint32_t>(ElementType::boolean)) {
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) values[i] = truth(values[i] != 0.0f);
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
  using namespace device;  // what the expressions are made of
  switch (static_cast<CodeOp>(word.op)) {
// Of brief rows b is s[i]; c of `where` comes from a temporary.
#define MK_EACH(name, c_value, expression)                                        \
  case CodeOp::name:                                                              \
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) {                             \
      [[maybe_unused]] const Lanes<float> a = acc[i], b = s[i], c = c_value;      \
      acc[i] = expression;                                                        \
    }                                                                             \
    break;
#define MK_ROW_brief(name, expression) MK_EACH(name, 0.0f, expression)
#define MK_ROW_ternary(name, expression) \
  MK_EACH(name, pick_temporary<kTemporaries>(word.third, temporaries, i), expression)
#define MK_ROW_special(name, expression)
#define MK_ROW_function(name, expression)
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, (expression))
#include "ir/operations.def"
    MK_EACH(reverse_sub, 0.0f, b - a)
    MK_EACH(add_relu, 0.0f, max(a + b, 0.0f))
#undef MK_EACH
#undef MK_ROW_brief
#undef MK_ROW_ternary
#undef MK_ROW_special
#undef MK_ROW_function
    case CodeOp::round:
    case CodeOp::round_add_round:
    case CodeOp::round_add_round_relu:
      MK_ROLLED for (uint32_t pass = 0; pass < 2; ++pass) {
        round_chunk(word.type, acc);
        if (static_cast<CodeOp>(word.op) == CodeOp::round) break;
        if (pass == 0) MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = acc[i] + s[i];
      }
      if (static_cast<CodeOp>(word.op) == CodeOp::round_add_round_relu)
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = max(acc[i], 0.0f);
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
    default:
      MK_ROLLED for (uint32_t n = 0; n < kChunk; ++n) {
        turn_chunk(acc, run_function_word(word, acc[0], s[0]));
        turn_chunk(s, s[0]);
      }
      break;
  }
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
