// When programs are verified without being asked to.
#include <fmt/format.h>

#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::schedule {
namespace {

constexpr std::size_t kMostTold = 5;

#if defined(MK_VERIFY_SCHEDULES)
constexpr bool kByDefault = true;
#else
constexpr bool kByDefault = false;
#endif

}  // namespace

bool verifies_schedules() {
  const std::string text = text_option(Knob::verify);
  if (text == "auto") return kByDefault;
  if (text == "on") return true;
  if (text == "off") return false;
  throw OptionError(fmt::format("MEGAKITTENS_VERIFY={}: expected on, off or auto", text));
}

void expect_verified(const program::Program& program, const VerifyOptions& options) {
  VerifyOptions few = options;
  few.most = kMostTold;
  std::string text;
  for (const Finding& finding : verify(program, few))
    text += fmt::format("\n[{}] {}", name_of(finding.rule), finding.text);
  if (!text.empty()) throw InternalError(fmt::format("the schedule of '{}' is wrong:{}", program.name, text));
}

}  // namespace megakittens::schedule
