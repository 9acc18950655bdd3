// megakittens inspect P: a program, or one instruction of it, in words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "ops/instruction_type.hpp"
#include "support/error.hpp"

namespace megakittens::cli {
namespace {

constexpr std::size_t kRows = 40;

struct Arguments {
  std::string file;
  std::string instruction;
  bool all = false;
};

std::string storage_table(const program::Program& program) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t s = 0; s < program.storages.size(); ++s) {
    const program::Storage& storage = program.storages[s];
    rows.push_back({std::to_string(s), storage.name,
                    std::string(program::name_of(storage.kind)) + (storage.mutated ? ", written in place" : ""),
                    bytes_text(static_cast<double>(storage.bytes))});
  }
  return table({">slot", "name", "kind", ">size"}, rows);
}

std::string port_table(const program::Program& program) {
  std::vector<std::vector<std::string>> rows;
  auto add = [&](const char* kind, const std::vector<program::Port>& ports) {
    for (const program::Port& port : ports)
      rows.push_back({kind, port.name, fmt::format("{}[{}]", program::name_of(port.type), fmt::join(port.sizes, ", ")),
                      std::to_string(port.storage), std::to_string(port.offset),
                      fmt::format("[{}]", fmt::join(port.strides, ", "))});
  };
  add("input", program.inputs);
  add("output", program.outputs);
  return table({"tensor", "name", "type", ">slot", ">offset", "strides"}, rows);
}

std::string wait_text(const program::Program& program, const program::Instruction& instruction) {
  std::vector<std::string> waits;
  for (int w = 0; w < instruction.wait_count; ++w)
    waits.push_back(fmt::format("{}{}", instruction.waits[w].counter,
                                program.counters[instruction.waits[w].counter].reuse ? "r" : ""));
  return fmt::format("{}", fmt::join(waits, " "));
}

std::string instruction_table(const program::Program& program, bool all) {
  const std::size_t count = all ? program.instructions.size() : std::min(kRows, program.instructions.size());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const program::Instruction& instruction = program.instructions[i];
    const bool noop = instruction.icode == 0;
    const bool listed = program.config.queue == program::QueueMode::per_sm;
    rows.push_back(
        {std::to_string(i), listed ? std::to_string(i % program.config.sms) : "-",
         std::string(ops::icode_name(instruction.icode)),
         noop ? "" : program.nodes[program.records[instruction.node].number].name,
         fmt::format("{}", fmt::join(instruction.index, instruction.index + instruction.index_count, " ")),
         wait_text(program, instruction),
         fmt::format("{}", fmt::join(instruction.arrivals, instruction.arrivals + instruction.arrival_count, " "))});
  }
  std::string text = table({">number", ">SM", "icode", "node", "indices", "waits for", "raises"}, rows);
  if (count < program.instructions.size())
    text += fmt::format("  and {} more; --all lists them\n", program.instructions.size() - count);
  return text;
}

int run(const Arguments& arguments) {
  const Input input = load_input(arguments.file);
  if (input.graph) {
    if (!arguments.instruction.empty())
      throw OptionError(fmt::format("{}: a graph has no instructions; `schedule` makes them", arguments.file));
    print(ir::to_string(*input.graph));
    return kSuccess;
  }
  const program::Program& program = *input.program;
  if (!arguments.instruction.empty()) {
    if (program.instructions.empty()) throw OptionError(fmt::format("{}: it has no instructions", arguments.file));
    const std::uint64_t number =
        parse_number("--instruction", arguments.instruction, 0, program.instructions.size() - 1);
    print(program::describe_instruction(program, number));
    return kSuccess;
  }
  print(fmt::format("{}\n{}\n{}\n{}\n{}", summary_text(program), port_table(program), storage_table(program),
                    node_table(program), instruction_table(program, arguments.all))
            .c_str());
  return kSuccess;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser = app.add_subcommand("inspect", "Show a program as tables, or one instruction field by field.");
  parser->add_option("P", arguments->file, "program file; a graph file is printed as a graph")
      ->required()
      ->type_name("FILE");
  parser->add_option("--instruction", arguments->instruction, "decode this one")->type_name("I");
  add_plugin_option(*parser);
  parser->add_flag("--all", arguments->all, "list every instruction, not the first 40");
  return {parser, [arguments] { return run(*arguments); }};
}

}  // namespace megakittens::cli
