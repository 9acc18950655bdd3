#include "support/fault_trial.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "schedule/verify.hpp"
#include "support/checked_programs.hpp"

namespace megakittens::test {
namespace {

constexpr std::uint64_t kStepLimit = 1'000'000;
constexpr std::uint64_t kAtATime = 5;

void explore_for(const emulator::NamedFault& fault, const program::Program& program,
                 const emulator::StorageContents& inputs, emulator::Strategy strategy, std::uint64_t most,
                 FaultTrial& trial) {
  emulator::ExploreOptions options;
  options.run.arithmetic = false;
  options.run.faults = fault.twins();
  options.run.step_limit = kStepLimit;
  options.run.interleaving.strategy = strategy;
  options.run.interleaving.expected_steps = 0;
  options.schedules = kAtATime;
  const std::vector<std::string_view> wanted = fault.checker_rules();
  for (std::uint64_t done = 0; done < most && !trial.checker_noticed; done += kAtATime) {
    options.first_seed = 1 + done;
    const emulator::Exploration exploration = emulator::explore(program, inputs, options);
    for (const emulator::Found& found : exploration.found) trial.seen += found.text + "\n";
    const std::uint64_t took = exploration.schedules_until(wanted, options.first_seed);
    trial.schedules += took == 0 ? kAtATime : took;
    if (took == 0) continue;
    trial.checker_noticed = true;
    trial.strategy = name_of(strategy);
    const auto first = std::ranges::find_if(exploration.found, [&](const emulator::Found& found) {
      return found.seed == options.first_seed + took - 1 && std::ranges::find(wanted, found.name) != wanted.end();
    });
    trial.rule = first->name;
  }
}

}  // namespace

FaultTrial try_fault(const emulator::NamedFault& fault, std::uint64_t most) {
  const CheckedProgram& checked = checked_program(fault.shown_by);
  program::Program program = prepare(checked);
  FaultTrial trial;
  trial.planted = emulator::plant(program, fault.program);
  if (!trial.planted) return trial;
  std::set<std::string_view> rules;
  for (const schedule::Finding& finding : schedule::verify(program)) rules.insert(schedule::name_of(finding.rule));
  trial.verifier = fmt::format("{}", fmt::join(rules, ", "));
  trial.verifier_noticed = fault.verifier.empty() ? rules.empty() : rules.contains(fault.verifier);
  if (fault.checker.empty()) {
    trial.checker_noticed = true;
    return trial;
  }
  const emulator::StorageContents inputs = random_contents(checked.graph(), program, 1);
  explore_for(fault, program, inputs, emulator::Strategy::random, most, trial);
  if (!trial.checker_noticed) explore_for(fault, program, inputs, emulator::Strategy::pct, most, trial);
  return trial;
}

}  // namespace megakittens::test
