#include "ops/pointwise/compile.hpp"

#include <array>

namespace megakittens::ops {
namespace {

using program::CodeOp;
using program::CodeWord;

/// A row of the forms `function` and `seldom`, or made of one.
bool is_function(const CodeWord& word) {
  switch (static_cast<CodeOp>(word.op)) {
#define MK_FORM_brief(name)
#define MK_FORM_ternary(name)
#define MK_FORM_special(name)
#define MK_FORM_function(name) case CodeOp::name:
#define MK_FORM_seldom(name) case CodeOp::name:
#define MK_OPERATION(name, arity, result, form, ...) MK_FORM_##form(name)
#include "ir/operations.def"
#undef MK_FORM_brief
#undef MK_FORM_ternary
#undef MK_FORM_special
#undef MK_FORM_function
#undef MK_FORM_seldom
    case CodeOp::reverse_div:
    case CodeOp::reverse_pow:
    case CodeOp::silu_mul:
      return true;
    default:
      return false;
  }
}

struct Pattern {
  std::array<CodeOp, 4> run;
  std::size_t length;
  CodeOp becomes;
  std::size_t source_at;  ///< which word of the run carries the source
};

// Longest first: the first match wins.
constexpr Pattern kPatterns[] = {
    {{CodeOp::round, CodeOp::add, CodeOp::round, CodeOp::relu}, 4, CodeOp::round_add_round_relu, 1},
    {{CodeOp::silu, CodeOp::round, CodeOp::mul, CodeOp::round}, 4, CodeOp::silu_round_mul_round, 2},
    {{CodeOp::round, CodeOp::add, CodeOp::round, CodeOp::identity}, 3, CodeOp::round_add_round, 1},
    {{CodeOp::add, CodeOp::relu, CodeOp::identity, CodeOp::identity}, 2, CodeOp::add_relu, 0},
    {{CodeOp::silu, CodeOp::mul, CodeOp::identity, CodeOp::identity}, 2, CodeOp::silu_mul, 1},
};

bool matches(const Pattern& pattern, const CodeWord* words, std::size_t left) {
  if (left < pattern.length) return false;
  int type = -1;
  for (std::size_t i = 0; i < pattern.length; ++i) {
    if (static_cast<CodeOp>(words[i].op) != pattern.run[i]) return false;
    if (pattern.run[i] != CodeOp::round) continue;
    // One word has room for one type.
    if (type >= 0 && type != words[i].type) return false;
    type = words[i].type;
  }
  return true;
}

CodeWord combined(const Pattern& pattern, const CodeWord* words) {
  CodeWord word = words[pattern.source_at];
  word.op = static_cast<std::uint8_t>(pattern.becomes);
  for (std::size_t i = 0; i < pattern.length; ++i)
    if (pattern.run[i] == CodeOp::round) word.type = words[i].type;
  return word;
}

bool rounds_one_after_the_other(const CodeWord& word, const CodeWord& next) {
  if ((word.third & program::kRoundsAfter) != 0) return false;  // one word has room for one type
  switch (static_cast<CodeOp>(word.op)) {
    case CodeOp::load:
    case CodeOp::keep:
    case CodeOp::store:
    case CodeOp::round:
    case CodeOp::round_add_round:
    case CodeOp::round_add_round_relu:
    case CodeOp::silu_round_mul_round:
      return false;
    default:
      // A function's type says which form it may have.
      return static_cast<CodeOp>(next.op) == CodeOp::round && (word.type == next.type || !is_function(word));
  }
}

}  // namespace

void combine_superinstructions(std::vector<CodeWord>& words, bool begins_with_sums) {
  std::vector<CodeWord> result;
  for (std::size_t at = 0; at < words.size();) {
    const Pattern* found = nullptr;
    for (const Pattern& pattern : kPatterns)
      if (found == nullptr && matches(pattern, &words[at], words.size() - at)) found = &pattern;
    result.push_back(found ? combined(*found, &words[at]) : words[at]);
    at += found ? found->length : 1;
  }
  words.clear();
  for (const CodeWord& word : result) {
    // What a product's code begins with stays as the product knows it: a row is added, and the sum is rounded.
    if (words.size() > (begins_with_sums ? 1 : 0) && rounds_one_after_the_other(words.back(), word)) {
      words.back().third |= program::kRoundsAfter;
      words.back().type = word.type;
    } else {
      words.push_back(word);
    }
  }
}

}  // namespace megakittens::ops
