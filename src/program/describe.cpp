// One instruction in words, for `inspect`.
#include <fmt/ranges.h>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::program {
namespace {

std::string describe_guard(std::uint32_t guard, const NodeRecord* record) {
  std::vector<std::string> parts;
  const std::uint32_t operands = record ? record->operand_count - record->output_count : 0;
  for (std::uint32_t bit = 0; bit <= kGuardShared; ++bit) {
    if ((guard & (1u << bit)) == 0 || bit >= operands) continue;
    parts.push_back(bit == kGuardShared && operands > kGuardShared + 1
                        ? fmt::format("operands {} to {}", bit, operands - 1)
                        : fmt::format("operand {}", bit));
  }
  if ((guard & kGuardWrite) != 0) parts.push_back("the first write");
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_source(int source) {
  if (source == kNoSource) return "";
  if (source >= kSourceConstant) return fmt::format(" c{}", source - kSourceConstant);
  if (source >= kSourceTemporary) return fmt::format(" t{}", source - kSourceTemporary);
  return fmt::format(" %{}", source);
}

std::string describe_code(const NodeRecord& record) {
  std::string text;
  for (int i = 0; i < record.code_count; ++i) {
    const CodeWord& word = record.code[i];
    const auto op = static_cast<CodeOp>(word.op);
    text += fmt::format("{}{}{}", i == 0 ? "" : "; ", name_of(op), describe_source(word.source));
    if (op == CodeOp::keep || op == CodeOp::where) text += fmt::format(" t{}", word.third & ~kRoundsAfter);
    if (op == CodeOp::store) text += fmt::format(" %{}", word.third);
    if (op != CodeOp::store && (word.third & kRoundsAfter) != 0)
      text += fmt::format(", rounded to {}", name_of(ElementType{word.type}));
    if (op == CodeOp::store || op == CodeOp::round) text += fmt::format(" {}", name_of(ElementType{word.type}));
  }
  return text;
}

std::string describe_operand(const Program& program, const NodeRecord& record, int k) {
  const OperandRecord& operand = record.operands[k];
  const bool output = k >= record.operand_count - record.output_count;
  std::string text =
      fmt::format("  {} {}: storage {} '{}', {} [{}] strides [{}] offset {}", output ? "output" : "operand", k,
                  operand.storage, program.storages[operand.storage].name, name_of(ElementType{operand.type}),
                  fmt::join(operand.sizes, ", "), fmt::join(operand.strides, ", "), operand.offset);
  if (operand.map != kNoMap) text += fmt::format(", tensor map {}", operand.map);
  if ((operand.flags & kOperandVector) != 0) text += ", vector";
  if ((operand.flags & kOperandBulk) != 0) text += ", bulk";
  return text + "\n";
}

std::string describe_record(const Program& program, const NodeRecord& record) {
  std::string text = fmt::format("  extents [{}], parameters [{}], flags {:#x}\n", fmt::join(record.extents, ", "),
                                 fmt::join(record.parameters, ", "), record.flags);
  for (int k = 0; k < record.operand_count; ++k) text += describe_operand(program, record, k);
  if (record.constant_count > 0)
    text +=
        fmt::format("  constants: {}\n", fmt::join(record.constants, record.constants + record.constant_count, ", "));
  if (record.code_count > 0) text += fmt::format("  code: {}\n", describe_code(record));
  return text;
}

std::string describe_place(const Program& program, std::size_t i) {
  if (program.config.queue == QueueMode::global) return fmt::format("ticket {} of the global queue", i);
  return fmt::format("SM {}, its number {}", i % program.config.sms, i / program.config.sms);
}

}  // namespace

std::string describe_instruction(const Program& program, std::size_t i) {
  if (i >= program.instructions.size())
    throw OptionError(fmt::format("instruction {} does not exist; the program has {}", i, program.instructions.size()));
  const Instruction& instruction = program.instructions[i];
  const NodeRecord* record = instruction.node < program.records.size() ? &program.records[instruction.node] : nullptr;
  const NodeInfo* node = record && record->number < program.nodes.size() ? &program.nodes[record->number] : nullptr;
  const bool noop = instruction.icode == 0;
  std::string text = fmt::format("instruction {}: {}, icode {}{}\n", i, describe_place(program, i), instruction.icode,
                                 noop ? " (noop)" : "");
  if (node)
    text += fmt::format("  {}node {} '{}' ({}){}\n", noop ? "beside " : "", record->number, node->name, node->op,
                        node->source.empty() ? "" : " at " + node->source);
  text +=
      fmt::format("  flags {:#x}, indices [{}], pages finished in order {:08x}{:08x} (from the right)\n",
                  instruction.flags, fmt::join(instruction.index, instruction.index + instruction.index_count, ", "),
                  instruction.release_order[1], instruction.release_order[0]);
  for (int w = 0; w < instruction.wait_count; ++w) {
    const Wait& wait = instruction.waits[w];
    text += fmt::format("  waits until counter {} shows {} of {}, before {}{}\n", wait.counter, wait.needed,
                        wait.arrivals, noop ? "it ends" : describe_guard(instruction.guard(w), record),
                        wait.counter < program.counters.size() && program.counters[wait.counter].reuse
                            ? " (storage is used again)"
                            : "");
  }
  if (instruction.arrival_count > 0)
    text += fmt::format("  raises counters {}\n",
                        fmt::join(instruction.arrivals, instruction.arrivals + instruction.arrival_count, ", "));
  if (record && !noop) text += describe_record(program, *record);
  return text;
}

}  // namespace megakittens::program
