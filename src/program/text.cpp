// The text form: a line a thing, words separated by blanks, texts in quotes.
#include <fmt/ranges.h>

#include "program/program.hpp"

namespace megakittens::program {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + "\"";
}

template <typename List>
std::string list(const List& values, std::size_t count) {
  std::string out = fmt::format("[{}", count);
  for (std::size_t i = 0; i < count; ++i) out += fmt::format(" {}", values[i]);
  return out + "]";
}

template <typename List>
std::string list(const List& values) {
  return list(values, std::size(values));
}

void print_record(const NodeRecord& record, std::string& out) {
  out += fmt::format("record node {} flags {} outputs {} extents {} parameters {} reserved {}\n", record.number,
                     record.flags, record.output_count, list(record.extents), list(record.parameters),
                     list(record.reserved));
  for (int k = 0; k < record.operand_count; ++k) {
    const OperandRecord& operand = record.operands[k];
    out += fmt::format("  operand storage {} map {} type {} flags {} offset {} sizes {} strides {}\n", operand.storage,
                       operand.map, name_of(ElementType{operand.type}), operand.flags, operand.offset,
                       list(operand.sizes), list(operand.strides));
  }
  for (int c = 0; c < record.constant_count; ++c) out += fmt::format("  constant {}\n", record.constants[c]);
  for (int c = 0; c < record.code_count; ++c) {
    const CodeWord& word = record.code[c];
    out += fmt::format("  code {} {} {} {}\n", name_of(static_cast<CodeOp>(word.op)), word.source, word.third,
                       name_of(ElementType{word.type}));
  }
}

void print_instruction(const Instruction& instruction, std::string& out) {
  out += fmt::format("instruction icode {} flags {} record {} index {} release {} {}\n", instruction.icode,
                     instruction.flags, instruction.node, list(instruction.index, instruction.index_count),
                     instruction.release_order[0], instruction.release_order[1]);
  for (int w = 0; w < instruction.wait_count; ++w) {
    const Wait& wait = instruction.waits[w];
    out += fmt::format("  wait {} needs {} of {} guard {}\n", wait.counter, wait.needed, wait.arrivals,
                       instruction.guard(w));
  }
  for (int a = 0; a < instruction.arrival_count; ++a) out += fmt::format("  raise {}\n", instruction.arrivals[a]);
}

void print_port(const char* which, const Port& port, std::string& out) {
  out += fmt::format("{} {} storage {} type {} offset {} sizes {} strides {}\n", which, quoted(port.name), port.storage,
                     name_of(port.type), port.offset, list(port.sizes), list(port.strides));
}

}  // namespace

std::string to_text(const Program& program) {
  const Config& config = program.config;
  std::string out = fmt::format("megakittens-program {}\nname {}\n", kProgramVersion, quoted(program.name));
  out += fmt::format("config target {} queue {} sms {} cluster {} slots {} pages {} page_bytes {}\n",
                     name_of(config.architecture), name_of(config.queue), config.sms, config.cluster, config.slots,
                     config.pages, config.page_bytes);
  for (const Storage& storage : program.storages)
    out += fmt::format("storage {} kind {} bytes {} mutated {} device {}\n", quoted(storage.name),
                       name_of(storage.kind), storage.bytes, storage.mutated ? 1 : 0, storage.device);
  for (const TensorMapDescription& map : program.maps)
    out += fmt::format("map storage {} type {} rank {} offset {} sizes {} strides {} box {} swizzle {}\n", map.storage,
                       name_of(map.type), map.rank, map.offset, list(map.sizes), list(map.strides), list(map.box),
                       name_of(map.swizzle));
  for (const NodeInfo& node : program.nodes)
    out += fmt::format("node {} op {} source {} icode {} first {} count {} bytes {} operations {}\n", quoted(node.name),
                       quoted(node.op), quoted(node.source), node.icode, node.first, node.count, node.bytes,
                       node.operations);
  for (const NodeRecord& record : program.records) print_record(record, out);
  for (const Counter& counter : program.counters)
    out += fmt::format("counter arrivals {} reuse {} scope {}\n", counter.arrivals, counter.reuse ? 1 : 0,
                       name_of(counter.scope));
  for (const Instruction& instruction : program.instructions) print_instruction(instruction, out);
  for (const Port& port : program.inputs) print_port("input", port, out);
  for (const Port& port : program.outputs) print_port("output", port, out);
  for (const UserType& type : program.types)
    out += fmt::format("type {} {} fingerprint {}\n", type.icode, quoted(type.name), quoted(type.fingerprint));
  return out;
}

}  // namespace megakittens::program
