// Checks with each instruction's type that its code can run on the record. It covers no orderings and is cheap enough
// for every program read from a file.
#include <fmt/format.h>

#include "ops/icodes.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"

namespace megakittens::schedule {

std::vector<Finding> verify_fit(const program::Program& program, const VerifyOptions& options) {
  std::vector<Finding> findings;
  if (std::string part = program::unserved_part(program); !part.empty())
    findings.push_back({.rule = Rule::fit, .text = std::move(part)});
  std::vector<std::uint16_t> fits(program.records.size(),
                                  ops::kIcode_noop);  // the icode that a record was found to fit
  for (const program::Instruction& instruction : program.instructions) {
    if (findings.size() >= options.most) break;
    if (instruction.icode == ops::kIcode_noop) continue;
    const ops::InstructionType& type =
        options.type_of ? options.type_of(instruction.icode) : ops::type_of_icode(instruction.icode);
    const program::NodeRecord& record = program.records[instruction.node];
    auto report = [&](const std::string& what, const std::string& fault) {
      findings.push_back({Rule::fit, instruction.number, instruction.number,
                          fmt::format("instruction {} of node '{}': {} does not fit type '{}': {}", instruction.number,
                                      program.nodes[record.number].name, what, type.name(), fault)});
    };
    if (fits[instruction.node] != instruction.icode) {
      if (const auto fault = type.record_fault(program, record, instruction.icode)) {
        report(fmt::format("node record {}", instruction.node), *fault);
        continue;
      }
      fits[instruction.node] = instruction.icode;
    }
    if (const auto fault = type.instruction_fault(program, record, instruction)) report("it", *fault);
  }
  return findings;
}

void expect_fit(const program::Program& program) {
  const std::vector<Finding> findings = verify_fit(program, {.most = 1});
  if (!findings.empty()) throw FormatError(findings.front().text);
}

}  // namespace megakittens::schedule
