// A finding in the words of the program it was found in: nodes and tensor boxes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "emulator/workspace.hpp"
#include "ops/instruction_type.hpp"

namespace megakittens::emulator {
namespace {

/// "[128:256, 0:256]": where the region begins and ends in each of its dimensions, were its storage one tensor with the
/// region's strides.
std::string box_text(const ops::Region& region) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < region.sizes.size(); ++d)
    if (region.strides[d] != 0) order.push_back(d);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t d) { return region.strides[d]; });
  std::int64_t rest = region.offset;
  std::vector<std::string> parts;
  for (const std::size_t d : order) {
    const std::int64_t first = rest / region.strides[d];
    rest -= first * region.strides[d];
    if (region.sizes[d] > 1 || first > 0 || parts.empty())
      parts.push_back(fmt::format("{}:{}", first, first + region.sizes[d]));
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

bool holds(const ops::Region& region, std::uint64_t byte) {
  const std::int64_t element = program::size_of(region.type);
  std::int64_t last = region.offset;
  for (std::size_t d = 0; d < region.sizes.size(); ++d) last += (region.sizes[d] - 1) * region.strides[d];
  const auto at = static_cast<std::int64_t>(byte);
  // A shadow cell of 16 bytes may begin before the bytes that met.
  return at + 16 > region.offset * element && at < (last + 1) * element;
}

std::string party_text(const Party& party, const Finding& finding, const program::Program& program) {
  const program::Instruction& instruction = program.instructions[static_cast<std::size_t>(party.instruction)];
  std::string text = fmt::format("  {} of instruction {}", party.role, party.instruction);
  if (instruction.icode == 0) return fmt::format("{} (noop)", text);
  const program::NodeRecord& record = program.records[instruction.node];
  const program::NodeInfo& node = program.nodes[record.number];
  text += fmt::format(" ({} of node '{}'{})", node.op, node.name, node.source.empty() ? "" : ", " + node.source);
  if (finding.buffer < 0) return text;
  for (const ops::Region& region : ops::type_of_icode(instruction.icode).regions(record, instruction)) {
    if (region.storage != static_cast<std::uint32_t>(finding.buffer) || region.write != party.write ||
        !holds(region, finding.offset))
      continue;
    return text + fmt::format(" {} operand {}, '{}' {}", party.write ? "writes" : "reads", region.operand,
                              program.storages[region.storage].name, box_text(region));
  }
  return text + fmt::format(" {} '{}' outside what it declares", party.write ? "writes" : "reads",
                            program.storages[static_cast<std::size_t>(finding.buffer)].name);
}

/// Numbers that the text calls instructions, each once, in order.
std::vector<std::size_t> instructions_in(const std::string& text) {
  static constexpr std::string_view kWord = "instruction ";
  std::vector<std::size_t> numbers;
  for (std::size_t at = text.find(kWord); at != std::string::npos; at = text.find(kWord, at + 1)) {
    std::size_t number = 0;
    const char* begin = text.data() + at + kWord.size();
    const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), number);
    if (fault == std::errc() && end != begin && std::ranges::find(numbers, number) == numbers.end())
      numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::string explain(const std::string& text, const program::Program& program) {
  static constexpr std::size_t kMost = 8;
  std::string out = text;
  std::size_t told = 0;
  for (const std::size_t number : instructions_in(text)) {
    if (number >= program.instructions.size() || program.instructions[number].icode == 0 || ++told > kMost) continue;
    const program::NodeInfo& node = program.nodes[program.records[program.instructions[number].node].number];
    out += fmt::format("{}  instruction {} is {} of node '{}'{}", out.ends_with('\n') ? "" : "\n", number, node.op,
                       node.name, node.source.empty() ? "" : ", " + node.source);
  }
  return out;
}

std::string explain(const Finding& finding, const program::Program& program) {
  if (finding.parties.empty()) return explain(finding.text, program);
  std::string text = finding.text;
  for (const Party& party : finding.parties)
    if (party.instruction >= 0 && party.instruction < static_cast<std::int64_t>(program.instructions.size()))
      text += fmt::format("\n{}", party_text(party, finding, program));
  return text;
}

}  // namespace megakittens::emulator
