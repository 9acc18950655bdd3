#include "emulator/rules.hpp"

namespace megakittens::emulator {

const RuleText& text_of(Rule rule) {
  constexpr bool order = true, one = false;
  static constexpr RuleText kTexts[] = {
#define MK_RULE(enumerator, name, row, concerns, text) {name, row, concerns, text},
#include "emulator/rules.def"
  };
  return kTexts[static_cast<int>(rule)];
}

}  // namespace megakittens::emulator
