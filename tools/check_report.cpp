// Plants every fault and runs every unspoilt program: writes docs/concepts/check-report.md, or with --small looks at a
// few schedules of each and writes nothing. Exit code 1 where a fault was missed or a right program was not silent.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

#include "schedule/verify.hpp"
#include "support/checked_programs.hpp"
#include "support/error.hpp"
#include "support/fault_trial.hpp"
#include "support/files.hpp"
#include "support/weakening.hpp"

namespace megakittens {
namespace {

using emulator::Strategy;
using Clock = std::chrono::steady_clock;

struct Plan {
  std::uint64_t fault_schedules;  // at most, of each strategy
  std::uint64_t weakenings;       // schedules of each program at most
  std::uint64_t shadow_only;      // half of them by each strategy
  std::uint64_t full;
  std::uint64_t full_1024;
  int random_graphs;
  std::uint64_t random_schedules;  // of each random graph
};
constexpr Plan kLong = {1000, 20, 1000, 50, 20, 60, 20};
constexpr Plan kSmall = {200, 8, 10, 2, 0, 4, 4};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class CheckReport {
 public:
  explicit CheckReport(const Plan& plan) : plan_(plan) {}

  void plant_faults();
  void weaken_everything();
  void run_unspoilt();
  void measure_slow_down();
  bool ok() const { return ok_; }
  std::string page() const;

 private:
  std::uint64_t explore(const test::CheckedProgram& checked, std::uint64_t shadow_only, std::uint64_t full);
  void fail(const std::string& text) {
    ok_ = false;
    std::fprintf(stderr, "[check-report] %s\n", text.c_str());
  }

  const Plan& plan_;
  const Clock::time_point start_ = Clock::now();
  bool ok_ = true;
  std::size_t planted_ = 0, noticed_ = 0, weakened_ = 0;
  std::string faults_, redundant_, silence_, slow_down_;
};

void CheckReport::plant_faults() {
  for (const emulator::NamedFault& fault : emulator::named_faults()) {
    const test::FaultTrial trial = test::try_fault(fault, plan_.fault_schedules);
    ++planted_;
    noticed_ += trial.ok() ? 1 : 0;
    if (!trial.ok())
      fail(fmt::format("fault '{}' was missed; the verifier found '{}', runs found\n{}", fault.name, trial.verifier,
                       trial.seen.substr(0, 2000)));
    const std::string schedules =
        trial.rule.empty() ? "-" : fmt::format("{}{}", trial.schedules, trial.strategy == "pct" ? " (pct)" : "");
    faults_ +=
        fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", fault.name, fault.weakens, fault.shown_by,
                    fault.verifier.empty() ? "-" : fault.verifier, trial.rule.empty() ? "-" : trial.rule, schedules);
  }
  std::printf("[check-report] %zu faults planted, %zu noticed, %.0f s\n", planted_, noticed_, seconds_since(start_));
}

void CheckReport::weaken_everything() {
  for (const auto& [place, weakening] : test::weaken_everything(plan_.weakenings)) {
    ++weakened_;
    const std::string reason = test::reason_for_silence(place);
    if (weakening.noticed.empty() != !reason.empty())
      fail(fmt::format("weakened {}: noticed as '{}', expected to be silent because '{}'", test::to_string(place),
                       weakening.noticed, reason));
    if (weakening.noticed.empty()) redundant_ += fmt::format("| {} | {} |\n", test::to_string(place), reason);
  }
  std::printf("[check-report] %zu hand-offs weakened, %.0f s\n", weakened_, seconds_since(start_));
}

/// How many schedules had findings.
std::uint64_t CheckReport::explore(const test::CheckedProgram& checked, std::uint64_t shadow_only, std::uint64_t full) {
  const program::Program program = test::prepare(checked);
  for (const schedule::Finding& finding : schedule::verify(program)) fail(checked.name + ": " + finding.text);
  const emulator::StorageContents inputs = test::random_contents(checked.graph(), program, 1);
  std::uint64_t failing = 0;
  for (const bool arithmetic : {false, true}) {
    const std::uint64_t schedules = arithmetic ? full : shadow_only;
    for (const Strategy strategy : {Strategy::random, Strategy::pct}) {
      emulator::ExploreOptions options;
      options.schedules = strategy == Strategy::pct ? schedules / 2 : schedules - schedules / 2;
      options.threads = 0;
      options.run.arithmetic = arithmetic;
      options.run.interleaving = {.strategy = strategy, .expected_steps = 0};
      if (options.schedules == 0) continue;
      const emulator::Exploration exploration = emulator::explore(program, inputs, options);
      failing += exploration.failing;
      for (const emulator::Found& found : exploration.found)
        fail(fmt::format("{}, seed {} ({}): {}", checked.name, found.seed, name_of(strategy), found.text));
    }
  }
  return failing;
}

void CheckReport::run_unspoilt() {
  for (const test::CheckedProgram& checked : test::silent_programs()) {
    const bool big = checked.name == "MLP 1024";
    const std::uint64_t shadow_only = big ? 0 : plan_.shadow_only, full = big ? plan_.full_1024 : plan_.full;
    if (shadow_only + full == 0) continue;
    const Clock::time_point start = Clock::now();
    const std::uint64_t failing = explore(checked, shadow_only, full);
    const program::Program program = test::prepare(checked);
    silence_ +=
        fmt::format("| {} | {}, {} SMs, clusters of {}, {} | {} | {} | {} | {} |\n", checked.name,
                    program::name_of(program.config.architecture), program.config.sms, program.config.cluster,
                    program::name_of(program.config.queue), program.instructions.size(), shadow_only, full, failing);
    std::printf("[check-report] %s: %llu findings, %.0f s\n", checked.name.c_str(),
                static_cast<unsigned long long>(failing), seconds_since(start));
    std::fflush(stdout);
  }
  std::uint64_t failing = 0;
  constexpr int kFirst = 5;  // the ones before are in the list above
  for (int seed = kFirst; seed < kFirst + plan_.random_graphs; ++seed)
    failing += explore(test::random_program(seed), plan_.random_schedules, 2);
  silence_ += fmt::format("| {} more random graphs | all of these | | {} each | 2 each | {} |\n", plan_.random_graphs,
                          plan_.random_schedules, failing);
  std::printf("[check-report] %d random graphs: %llu findings\n", plan_.random_graphs,
              static_cast<unsigned long long>(failing));
}

void CheckReport::measure_slow_down() {
  for (const char* name : {"MLP 256", "MLP 256, Blackwell", "in-place chain", "odd tile counts", "MLP 1024"}) {
    const test::CheckedProgram& checked = test::checked_program(name);
    const program::Program program = test::prepare(checked);
    const emulator::StorageContents inputs = test::random_contents(checked.graph(), program, 1);
    emulator::Rehearsal rehearsal(program, inputs);
    const int runs = checked.name == "MLP 1024" ? 3 : 40;
    auto milliseconds = [&](bool check, bool arithmetic) {
      const Clock::time_point start = Clock::now();
      for (int seed = 1; seed <= runs; ++seed)
        rehearsal.run({.seed = static_cast<std::uint64_t>(seed), .check = check, .arithmetic = arithmetic});
      return seconds_since(start) * 1000 / runs;
    };
    milliseconds(true, false);
    const double plain = milliseconds(false, true), checked_ms = milliseconds(true, true),
                 shadow = milliseconds(true, false);
    slow_down_ += fmt::format("| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", name, plain, checked_ms,
                              checked_ms / plain, shadow);
  }
}

std::string CheckReport::page() const {
  return fmt::format(
      "# What the checker notices, and where it is silent\n\n"
      "This page is written by `make check-report`, which fails where a fault is missed or a right program is not "
      "silent. A "
      "small\nversion of it is among the tests. How the checker works: [the emulator](emulator.md); why it is "
      "believed: "
      "[correctness](correctness.md);\nwhat testing on a GPU sees of the same faults: [on a GPU](gpu-faults.md).\n\n"
      "Sources: [`src/emulator/named_faults.cpp`](../../src/emulator/named_faults.cpp), the one list of faults;\n"
      "[`tests/support/checked_programs.cpp`](../../tests/support/checked_programs.cpp), the programs.\n\n"
      "## Planted faults\n\n"
      "{} faults, {} noticed. *Verifier*: the rule of the static verifier, which looks at the program alone; faults of "
      "device "
      "code are\nnot in the program. *Checker*: the rule of the first run that named the fault rightly. *Schedules*: "
      "how many it "
      "took, without\narithmetic, by seeds from 1. Where there is no run, the program is refused before one, or "
      "nothing depends "
      "on it yet (page maps\nof a pair: the interpreter's pairs share no pages so far).\n\n"
      "| fault | what is weakened | program | verifier | checker | schedules |\n|---|---|---|---|---|---|\n{}\n"
      "## Every hand-off weakened\n\n"
      "Beyond the list, each of the {} hand-offs that these programs reach (an instruction of the twins, by role and "
      "mbarrier) is "
      "left\nout or doubled, one at a time. All were noticed but these, and each says why:\n\n"
      "| weakened | why nobody notices |\n|---|---|\n{}\n"
      "## Silence\n\n"
      "Unspoilt programs: half of the schedules are random, half PCT. *Full* schedules compute, and their results must "
      "be equal "
      "bit\nfor bit. Sizes and numbers of SMs are chosen so that every hand-off happens and 1,000 schedules are "
      "affordable; the "
      "MLP of 1024\nis the whole one on the whole machine.\n\n"
      "| program | target | instructions | shadow only | full | with findings |\n|---|---|---|---|---|---|\n{}\n"
      "## Slow-down\n\n"
      "Milliseconds a run, one thread. *Shadow only* leaves out the products' arithmetic under the checker; what is "
      "left is the "
      "checker\nitself, so that it gains where products are dear to emulate (tensor memory).\n\n"
      "| program | plain emulator | with the checker | slow-down | shadow only |\n|---|---|---|---|---|\n{}\n"
      "The report took {:.0f} s, and {:.0f} s of processor time, on {} processors.\n",
      planted_, noticed_, faults_, weakened_, redundant_, silence_, slow_down_, seconds_since(start_),
      static_cast<double>(std::clock()) / CLOCKS_PER_SEC, std::thread::hardware_concurrency());
}

int run(int argc, char** argv) {
  const std::string argument = argc == 2 ? argv[1] : "";
  if (argument.empty() || (argument.starts_with("--") && argument != "--small"))
    throw OptionError("usage: check_report --small | PAGE");
  const bool small = argument == "--small";
  CheckReport report(small ? kSmall : kLong);
  report.plant_faults();
  if (!small) report.weaken_everything();  // a test of its own
  report.run_unspoilt();
  if (!small) {
    report.measure_slow_down();
    write_file(argument, report.page());
  }
  return report.ok() ? 0 : 1;
}

}  // namespace
}  // namespace megakittens

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // progress shows in pipes, too
  try {
    return megakittens::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[check-report] %s\n", error.what());
    return 2;
  }
}
