#include "cli/check_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/print.hpp"

namespace megakittens::cli {

std::string to_text(const CheckReport& report) {
  std::string text = summary_text(report.program);
  if (!report.faults.empty()) text += fmt::format("  planted       {}\n", fmt::join(report.faults, ", "));
  text += fmt::format("\nverifier: {} findings in {:.3f} s\n", report.verifier.size(), report.verify_seconds);
  for (const std::string& sentence : report.verifier) text += fmt::format("  {}\n", sentence);
  if (!report.ran) return text + "result: WRONG, and not fit to be run\n";
  const emulator::Exploration& exploration = report.exploration;
  const emulator::InterleavingOptions& interleaving = report.options.run.interleaving;
  if (report.replayed) {
    text += fmt::format("replay: {:.2f} s\n", report.seconds);
  } else {
    text += fmt::format("explorer: {} schedules from seed {} ({}{}), {} of them with findings, in {:.2f} s\n",
                        exploration.schedules, report.options.first_seed, name_of(interleaving.strategy),
                        report.options.run.arithmetic ? "" : ", shadow only", exploration.failing, report.seconds);
  }
  text += report.note;
  for (std::size_t i = 0; i < exploration.found.size(); ++i) {
    const emulator::Found& found = exploration.found[i];
    text += fmt::format("\nfinding {} of {}, in {} schedules, first with seed {}\n{}", i + 1, exploration.found.size(),
                        found.schedules, found.seed, found.text);
    if (!found.text.ends_with('\n')) text += '\n';
  }
  return text + (report.ok() ? "result: no findings\n" : "\nresult: WRONG\n");
}

Json to_json(const CheckReport& report) {
  const emulator::Exploration& exploration = report.exploration;
  Json findings = Json::array();
  for (const emulator::Found& found : exploration.found)
    findings.push_back({{"rule", found.name},
                        {"row", found.row},
                        {"schedules", found.schedules},
                        {"seed", found.seed},
                        {"text", found.text}});
  return {{"name", report.program.name},
          {"ok", report.ok()},
          {"instructions", report.program.instructions.size()},
          {"faults", report.faults},
          {"verifier", report.verifier},
          {"ran", report.ran},
          {"strategy", name_of(report.options.run.interleaving.strategy)},
          {"first_seed", report.options.first_seed},
          {"shadow_only", !report.options.run.arithmetic},
          {"schedules", exploration.schedules},
          {"failing", exploration.failing},
          {"findings", std::move(findings)},
          {"note", report.note},
          {"seconds", {{"verify", report.verify_seconds}, {"explore", report.seconds}}}};
}

}  // namespace megakittens::cli
