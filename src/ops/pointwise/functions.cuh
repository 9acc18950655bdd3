// The table's functions over a chunk, in two forms: fast ones, whose errors vanish behind a rounding to 16 bits, and
// accurate ones.
#pragma once

#include "device/core/fast.cuh"
#include "ops/pointwise/place.cuh"

namespace megakittens::ops {

using program::CodeOp;

/// bf16 and f16: what is rounded to either may be computed in fast forms.
MK_DEVICE bool is_half(uint32_t type) {
  return type == static_cast<uint32_t>(ElementType::bf16) || type == static_cast<uint32_t>(ElementType::f16);
}

#define MK_ROW_brief(name, arity, expression)
#define MK_ROW_ternary(name, arity, expression)
#define MK_ROW_special(name, arity, expression)
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, arity, (expression))

// The rows of kArity arguments on the first kWidth values. Of two, a is acc[i] and b is s[i], or where `reversed` the
// other way round: chosen value by value, for an exchange of whole chunks costs as many registers again.
#define MK_CASE(name, arity, expression)                                                            \
  case CodeOp::name:                                                                                \
    if constexpr (arity == kArity) {                                                                \
      MK_UNROLL for (uint32_t i = 0; i < kWidth; ++i) {                                             \
        [[maybe_unused]] Lanes<float> a = acc[i], b = 0.0f;                                         \
        if constexpr (arity == 2) {                                                                 \
          a = device::select(reversed, s[i], acc[i]);                                               \
          b = device::select(reversed, acc[i], s[i]);                                               \
        }                                                                                           \
        acc[i] = expression;                                                                        \
      }                                                                                             \
    }                                                                                               \
    break;

#define MK_ROW_function(name, arity, expression) MK_CASE(name, arity, expression)
#define MK_ROW_seldom(name, arity, expression)
/// The operations of the form `function` in fast forms.
struct Fast : device::FastMath {
  template <uint32_t kWidth, int kArity>
  static MK_DEVICE void run(CodeOp op, [[maybe_unused]] Lanes<bool> reversed, Lanes<float>* acc,
                            [[maybe_unused]] const Lanes<float>* s) {
    using namespace device;  // what the expressions are made of besides
    switch (op) {
#include "ir/operations.def"
      default:
        break;
    }
  }
};

/// The same in accurate forms.
struct Accurate {
  template <uint32_t kWidth, int kArity>
  static MK_DEVICE void run(CodeOp op, [[maybe_unused]] Lanes<bool> reversed, Lanes<float>* acc,
                            [[maybe_unused]] const Lanes<float>* s) {
    using namespace device;
    switch (op) {
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, arity, (expression))
#include "ir/operations.def"
      default:
        break;
    }
  }
};
#undef MK_ROW_function
#undef MK_ROW_seldom

#define MK_ROW_function(name, arity, expression)
#define MK_ROW_seldom(name, arity, expression) MK_CASE(name, arity, expression)
/// The operations of the form `seldom`.
struct Seldom {
  template <uint32_t kWidth, int kArity>
  static MK_DEVICE void run(CodeOp op, [[maybe_unused]] Lanes<bool> reversed, Lanes<float>* acc,
                            [[maybe_unused]] const Lanes<float>* s) {
    using namespace device;
    switch (op) {
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, arity, (expression))
#include "ir/operations.def"
      default:
        break;
    }
  }
};
#undef MK_ROW_function
#undef MK_ROW_seldom

/// A bit for each row of the form `function`, and of the form `seldom`.
#define MK_BIT(name) | uint64_t{1} << static_cast<uint32_t>(CodeOp::name)
#define MK_ROW_function(name, arity, expression) MK_BIT(name)
#define MK_ROW_seldom(name, arity, expression)
inline constexpr uint64_t kFunctionBits = 0
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, arity, expression)
#include "ir/operations.def"
    ;
#undef MK_ROW_function
#undef MK_ROW_seldom
#define MK_ROW_function(name, arity, expression)
#define MK_ROW_seldom(name, arity, expression) MK_BIT(name)
inline constexpr uint64_t kSeldomBits = 0
#define MK_OPERATION(name, arity, result, form, mirror, expression, aten) MK_ROW_##form(name, arity, expression)
#include "ir/operations.def"
    ;
/// The same of the machine's own words, counted from the first.
inline constexpr uint32_t kMachineOps = static_cast<uint32_t>(CodeOp::before_machine_ops) + 1;
#define MK_MACHINE_BIT(name) uint64_t{1} << (static_cast<uint32_t>(CodeOp::name) - kMachineOps)
inline constexpr uint64_t kMachineFunctionBits = MK_MACHINE_BIT(reverse_div) | MK_MACHINE_BIT(reverse_pow) |
                                                 MK_MACHINE_BIT(silu_mul) | MK_MACHINE_BIT(silu_round_mul_round);
#undef MK_MACHINE_BIT
#undef MK_BIT
static_assert((kFunctionBits >> 63 | kSeldomBits >> 63) == 0, "a word has a bit for each row of the table");

MK_DEVICE bool has_bit(uint64_t bits, CodeOp op) {
  return static_cast<uint32_t>(op) < 64 && (bits >> static_cast<uint32_t>(op) & 1) != 0;
}
/// A row of the form `seldom`.
MK_DEVICE bool is_seldom(CodeOp op) {
  return has_bit(kSeldomBits, op);
}
/// A row of either form, or a word that is made of one.
MK_DEVICE bool is_function(CodeOp op) {
  const uint32_t number = static_cast<uint32_t>(op);
  const uint64_t bits = number < kMachineOps ? kFunctionBits | kSeldomBits : kMachineFunctionBits;
  return number % kMachineOps < 64 && (bits >> (number % kMachineOps) & 1) != 0;
}
#undef MK_ROW_brief
#undef MK_ROW_ternary
#undef MK_ROW_special
#undef MK_ROW_function
#undef MK_ROW_seldom
#undef MK_CASE

/// Every value moves down by kWidth, and the first ones follow the last: a rolled loop works on those.
template <uint32_t kWidth, uint32_t kCount>
MK_DEVICE void turn_chunk(Lanes<float> (&values)[kCount]) {
  if constexpr (kWidth < kCount) {
    Lanes<float> first[kWidth];
    MK_UNROLL for (uint32_t i = 0; i < kWidth; ++i) first[i] = values[i];
    MK_UNROLL for (uint32_t i = 0; i + kWidth < kCount; ++i) values[i] = values[i + kWidth];
    MK_UNROLL for (uint32_t i = 0; i < kWidth; ++i) values[kCount - kWidth + i] = first[i];
  }
}

/// Runs a function over the chunk, kWidth values at a time. What is not turned stays where it is: copies of whole
/// chunks cost registers.
template <class Form, uint32_t kWidth, uint32_t kCount>
MK_DEVICE void run_form(CodeOp op, Lanes<float> (&acc)[kCount], Lanes<float> (&s)[kCount]) {
  const bool reversed = op == CodeOp::reverse_div || op == CodeOp::reverse_pow;
  if (op == CodeOp::reverse_div) op = CodeOp::div;
  if (op == CodeOp::reverse_pow) op = CodeOp::pow;
  if (op == CodeOp::div || op == CodeOp::pow) {
    MK_ROLLED for (uint32_t n = 0; n < kCount / kWidth; ++n) {
      Form::template run<kWidth, 2>(op, Lanes<bool>(reversed), acc, s);
      turn_chunk<kWidth>(acc);
      turn_chunk<kWidth>(s);
    }
    return;
  }
  MK_ROLLED for (uint32_t n = 0; n < kCount / kWidth; ++n) {
    Form::template run<kWidth, 1>(op, Lanes<bool>(false), acc, s);
    turn_chunk<kWidth>(acc);
  }
}

/// acc = op(acc) or op(acc, s). Of a long chunk's fast values kAtOnce are written out.
template <uint32_t kAtOnce, uint32_t kCount>
MK_DEVICE void run_function(CodeOp op, bool fast, Lanes<float> (&acc)[kCount], Lanes<float> (&s)[kCount]) {
  constexpr bool kLong = kCount > 16;
  if (is_seldom(op) || op == CodeOp::reverse_pow)
    run_form<Seldom, kLong ? 2 : 1>(op, acc, s);
  else if (fast)
    run_form<Fast, kLong ? kAtOnce : 1>(op, acc, s);
  else
    run_form<Accurate, kLong ? 4 : 1>(op, acc, s);
}

}  // namespace megakittens::ops
