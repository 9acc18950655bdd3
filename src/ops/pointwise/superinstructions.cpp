#include "ops/pointwise/compile.hpp"

#include <array>

namespace megakittens::ops {
namespace {

using program::CodeOp;
using program::CodeWord;

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

}  // namespace

void combine_superinstructions(std::vector<CodeWord>& words) {
  std::vector<CodeWord> result;
  for (std::size_t at = 0; at < words.size();) {
    const Pattern* found = nullptr;
    for (const Pattern& pattern : kPatterns)
      if (found == nullptr && matches(pattern, &words[at], words.size() - at)) found = &pattern;
    result.push_back(found ? combined(*found, &words[at]) : words[at]);
    at += found ? found->length : 1;
  }
  words = std::move(result);
}

}  // namespace megakittens::ops
