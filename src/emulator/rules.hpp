// What the emulator can find: the rows of rules.def.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

enum class Rule : std::uint8_t {
#define MK_RULE(enumerator, name, row, concerns, text) enumerator,
#include "emulator/rules.def"
};

struct RuleText {
  const char* name;
  int row;
  bool is_about_order;  ///< of two accesses; other rules concern a single operation
  const char* what;
};
const RuleText& text_of(Rule rule);

}  // namespace megakittens::emulator
