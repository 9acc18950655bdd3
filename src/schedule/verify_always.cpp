// When programs are verified by default, and the errors of a program that fails.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

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

/// The user's type among whose instructions the finding is, or which should have written what it misses. Null where
/// there is none, and for findings that do not depend on what types declare.
const program::UserType* cause_of(const program::Program& program, const Finding& finding) {
  if (finding.rule < Rule::outside) return nullptr;
  auto is_of = [&](const program::UserType& type) {
    if (finding.storage == Finding::kNoStorage)
      return program.instructions[finding.instruction].icode == type.icode ||
             program.instructions[finding.other].icode == type.icode;
    return std::ranges::any_of(program.records, [&](const program::NodeRecord& record) {
      if (program.nodes[record.number].icode != type.icode) return false;
      for (int k = record.operand_count - record.output_count; k < record.operand_count; ++k)
        if (record.operands[k].storage == finding.storage) return true;
      return false;
    });
  };
  const auto found = std::ranges::find_if(program.types, is_of);
  return found == program.types.end() ? nullptr : &*found;
}

}  // namespace

bool verifies_schedules(bool with_users_types) {
  const std::string text = text_option(Knob::verify);
  if (text == "auto") return kByDefault || with_users_types;
  if (text == "on") return true;
  if (text == "off") return false;
  throw OptionError(fmt::format("MEGAKITTENS_VERIFY={}: expected on, off or auto", text));
}

void expect_verified(const program::Program& program, const VerifyOptions& options) {
  VerifyOptions few = options;
  few.most = kMostTold;
  std::string text;
  std::set<std::string> causes;
  for (const Finding& finding : verify(program, few)) {
    text += fmt::format("\n[{}] {}", name_of(finding.rule), finding.text);
    if (const program::UserType* type = cause_of(program, finding)) causes.insert("'" + type->name + "'");
  }
  if (text.empty()) return;
  if (causes.empty()) throw InternalError(fmt::format("the schedule of '{}' is wrong:{}", program.name, text));
  throw UserError(fmt::format("program '{}' is wrong by what plan() and touches() of instruction type {} say:{}",
                              program.name, fmt::join(causes, ", "), text));
}

}  // namespace megakittens::schedule
