#include "emulator/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace megakittens::emulator {

bool Report::has(Rule rule) const {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.rule == rule; });
}

std::vector<std::string> Report::names() const {
  std::vector<std::string> names;
  auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Finding& finding : findings) add(text_of(finding.rule).name);
  if (!deadlock.empty()) add("deadlock");
  if (!exception.empty()) add("exception");
  if (step_limit_reached) add("step limit");
  return names;
}

std::string Report::text() const {
  if (ok()) return fmt::format("no findings in {} steps, {} asynchronous operations", steps, async_operations);
  std::string out;
  for (const Finding& finding : findings) out += finding.text + "\n";
  if (suppressed > 0) out += fmt::format("and {} more like these\n", suppressed);
  if (!deadlock.empty()) out += deadlock;
  if (step_limit_reached) out += fmt::format("stopped at the limit of {} steps\n", steps);
  if (!exception.empty()) out += fmt::format("the kernel threw: {}\n", exception);
  return out;
}

bool Findings::wants(Rule rule, std::uint64_t likeness) {
  if (disorder_ && text_of(rule).is_about_order) return false;
  const std::uint64_t key = likeness * 64 + static_cast<std::uint64_t>(rule);
  if (seen_.insert(key).second && report_.findings.size() < limit_) return true;
  report_.suppressed++;
  return false;
}

void Findings::tell(Rule rule, const std::string& text, std::vector<Party> parties, int buffer, std::uint64_t offset) {
  const RuleText& words = text_of(rule);
  const std::string row = words.row > 0 ? fmt::format(", row {} of the hand-off table", words.row) : std::string();
  report_.findings.push_back(
      {rule, fmt::format("[{}{}] {}\n{}", words.name, row, words.what, text), std::move(parties), buffer, offset});
}

}  // namespace megakittens::emulator
