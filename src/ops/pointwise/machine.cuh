// Runs a record's byte code over a chunk of values in each lane. Short operations are written out for every value;
// functions in their fast forms too where the chunk is long, in their accurate ones in a rolled loop over a few values
// at a time.
#pragma once

#include "ops/pointwise/functions.cuh"

namespace megakittens::ops {

using program::CodeWord;

/// Rounds a chunk to the type.
template <uint32_t kCount>
MK_DEVICE void round_chunk(uint32_t type, Lanes<float> (&values)[kCount]) {
  if (type == static_cast<uint32_t>(ElementType::bf16)) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; i += 2) {
      const Lanes<uint32_t> pair = device::pack_bf16x2(values[i], values[i + 1]);
      values[i] = device::bf16_low(pair);
      values[i + 1] = device::bf16_high(pair);
    }
  } else if (type == static_cast<uint32_t>(ElementType::f16)) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; i += 2) {
      const Lanes<uint32_t> pair = device::pack_f16x2(values[i], values[i + 1]);
      values[i] = device::f16_low(pair);
      values[i + 1] = device::f16_high(pair);
    }
  } else if (type == static_cast<uint32_t>(ElementType::boolean)) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) values[i] = truth(values[i] != 0.0f);
  }
}

/// Value i of temporary `number`. Chosen by selects: where branches choose, the compiler joins them to an access with a
/// computed number, and the temporaries go to memory.
template <int kTemporaries, uint32_t kCount>
MK_DEVICE Lanes<float> pick_temporary(int number, const Lanes<float> (&temporaries)[kTemporaries][kCount], uint32_t i) {
  Lanes<float> value = temporaries[0][i];
  MK_UNROLL for (int t = 1; t < kTemporaries; ++t) value =
      device::select(Lanes<bool>(number == t), temporaries[t][i], value);
  return value;
}

/// A function, and the machine's own words that are made of one.
template <uint32_t kAtOnce, uint32_t kCount>
MK_DEVICE void run_function_word(const CodeWord word, Lanes<float> (&acc)[kCount], Lanes<float> (&s)[kCount]) {
  const CodeOp whole = static_cast<CodeOp>(word.op);
  const bool rounds = whole == CodeOp::silu_round_mul_round, with_product = rounds || whole == CodeOp::silu_mul;
  run_function<kAtOnce>(with_product ? CodeOp::silu : whole, is_half(word.type), acc, s);
  if (!with_product) return;
  MK_ROLLED for (uint32_t pass = 0; pass < 2; ++pass) {
    if (rounds) round_chunk(word.type, acc);
    if (pass == 0) MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = acc[i] * s[i];
  }
}

/// One word on the whole chunk. The commonest operations stand before the others: the compiler makes a tree of
/// dependent comparisons of the switch, six deep, which takes more of a word's time than its arithmetic.
template <int kTemporaries, uint32_t kAtOnce, uint32_t kCount>
MK_DEVICE void run_word(const CodeWord word, Lanes<float> (&acc)[kCount], Lanes<float> (&s)[kCount],
                        Lanes<float> (&temporaries)[kTemporaries][kCount]) {
  using namespace device;  // what the expressions are made of
  const auto op = static_cast<CodeOp>(hidden(word.op));
  if (op == CodeOp::load) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = s[i];
    return;
  }
  if (op == CodeOp::add) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = acc[i] + s[i];
    return;
  }
  if (op == CodeOp::mul) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = acc[i] * s[i];
    return;
  }
  if (is_function(op)) return run_function_word<kAtOnce>(word, acc, s);
  switch (static_cast<CodeOp>(word.op)) {
// Of brief rows b is s[i]; c of `where` comes from a temporary.
#define MK_EACH(name, c_value, expression)                                   \
  case CodeOp::name:                                                         \
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) {                        \
      [[maybe_unused]] const Lanes<float> a = acc[i], b = s[i], c = c_value; \
      acc[i] = expression;                                                   \
    }                                                                        \
    break;
#define MK_ROW_brief(name, expression) MK_EACH(name, 0.0f, expression)
#define MK_ROW_ternary(name, expression) \
  MK_EACH(name, pick_temporary<kTemporaries>(word.third & ~program::kRoundsAfter, temporaries, i), expression)
#define MK_ROW_special(name, expression)
#define MK_ROW_function(name, expression)
#define MK_ROW_seldom(name, expression)
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, (expression))
#include "ir/operations.def"
    MK_EACH(reverse_sub, 0.0f, b - a)
    MK_EACH(add_relu, 0.0f, max(a + b, 0.0f))
#undef MK_EACH
#undef MK_ROW_brief
#undef MK_ROW_ternary
#undef MK_ROW_special
#undef MK_ROW_function
#undef MK_ROW_seldom
    case CodeOp::round:
    case CodeOp::round_add_round:
    case CodeOp::round_add_round_relu:
      MK_ROLLED for (uint32_t pass = 0; pass < 2; ++pass) {
        round_chunk(word.type, acc);
        if (static_cast<CodeOp>(word.op) == CodeOp::round) break;
        if (pass == 0) MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = acc[i] + s[i];
      }
      if (static_cast<CodeOp>(word.op) == CodeOp::round_add_round_relu)
        MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] = max(acc[i], 0.0f);
      break;
    case CodeOp::keep:
      MK_UNROLL for (int t = 0; t < kTemporaries; ++t) {
        const Lanes<bool> chosen = word.third == t;
        MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) temporaries[t][i] = select(chosen, acc[i], temporaries[t][i]);
      }
      break;
    default:
      break;
  }
}

/// Runs the current instruction's code on `acc`, from word `first` on. `port.load(k, s)` reads operand k's chunk and
/// `port.store(k, type, acc)` writes output operand k's. kAtOnce: values on which a function's fast form works at once.
template <int kTemporaries, uint32_t kAtOnce, class B, class Port, uint32_t kCount>
MK_DEVICE void run_code(const device::Context<B>& c, Lanes<float> (&acc)[kCount], Port& port, uint32_t first = 0) {
  Lanes<float> temporaries[kTemporaries][kCount];
  // Defined on every path, or the compiler keeps them alive around the loop.
  MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) MK_UNROLL for (int t = 0; t < kTemporaries; ++t) temporaries[t][i] =
      0.0f;
  const uint32_t count = c.code_count();
  uint32_t next = c.code(first);
  MK_ROLLED for (uint32_t at = first; at < count; ++at) {
    const CodeWord word = device::bit_cast<CodeWord>(next);
    next = c.code(at + 1);  // ahead of its use; behind the last word lie the constants
    if (static_cast<CodeOp>(word.op) == CodeOp::store) {
      port.store(word.third, acc);
      continue;
    }
    Lanes<float> s[kCount];
    if (word.source < program::kSourceTemporary) {
      port.load(word.source, s);
    } else if (word.source < program::kSourceConstant) {
      MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) s[i] =
          pick_temporary<kTemporaries>(word.source - program::kSourceTemporary, temporaries, i);
    } else {
      const bool constant = word.source != program::kNoSource;
      const float value = constant ? c.code_constant(word.source - program::kSourceConstant) : 0.0f;
      MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) s[i] = value;
    }
    run_word<kTemporaries, kAtOnce>(word, acc, s, temporaries);
    if ((word.third & program::kRoundsAfter) != 0) round_chunk(word.type, acc);
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
