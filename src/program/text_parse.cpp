// Reads the text form back. Every keyword of a line is read by name, so that a damaged line is found where it is.
#include <charconv>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::program {
namespace {

/// The words of one line.
class Line {
 public:
  Line(std::string_view text, std::size_t number) : rest_(text), number_(number) {}

  [[noreturn]] void fail(const std::string& why) const {
    throw FormatError(fmt::format("program text, line {}: {}", number_, why));
  }

  std::string_view word() {
    skip_blanks();
    const std::size_t size = std::min(rest_.find_first_of(" []"), rest_.size());
    if (size == 0) fail("a word is missing");
    std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }
  Line& expect(std::string_view keyword) {
    std::string_view found = word();
    if (found != keyword) fail(fmt::format("'{}' instead of '{}'", found, keyword));
    return *this;
  }
  template <typename Number>
  Line& number(Number& value) {
    std::string_view text = word();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) fail(fmt::format("'{}' is no such number", text));
    return *this;
  }
  Line& flag(bool& value) {
    int number_read = 0;
    number(number_read);
    if (number_read != 0 && number_read != 1) fail("a flag is neither 0 nor 1");
    value = number_read == 1;
    return *this;
  }
  Line& quoted(std::string& value) {
    skip_blanks();
    if (!take('"')) fail("a text in quotes is missing");
    value.clear();
    while (!take('"')) {
      if (rest_.empty()) fail("a text does not end");
      const bool escaped = take('\\');
      if (rest_.empty()) fail("a text does not end");
      value += escaped && rest_.front() == 'n' ? '\n' : rest_.front();
      rest_.remove_prefix(1);
    }
    return *this;
  }
  /// "[count a b ...]": at most `most` entries; returns how many.
  template <typename Put>
  std::size_t list(std::size_t most, Put&& put) {
    skip_blanks();
    if (!take('[')) fail("a list is missing");
    std::size_t count = 0;
    number(count);
    if (count > most) fail(fmt::format("a list of {} entries; {} are possible", count, most));
    for (std::size_t i = 0; i < count; ++i) put(i);
    if (!take(']')) fail("a list does not end");
    return count;
  }
  template <typename Number, std::size_t N>
  Line& array(Number (&values)[N]) {
    if (list(N, [&](std::size_t i) { number(values[i]); }) != N) fail(fmt::format("a list needs {} entries", N));
    return *this;
  }
  template <typename Number>
  Line& vector(std::vector<Number>& values) {
    list(rest_.size(), [&](std::size_t) { number(values.emplace_back()); });
    return *this;
  }
  template <typename Enum>
  Line& named(Enum& value, Enum (*parse)(std::string_view)) {
    try {
      value = parse(word());
    } catch (const OptionError& error) {
      fail(error.what());
    }
    return *this;
  }
  void finish() {
    skip_blanks();
    if (!rest_.empty()) fail(fmt::format("'{}' is left over", rest_));
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && rest_.front() == ' ') rest_.remove_prefix(1);
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  std::size_t number_;
};

template <typename T>
T& last(std::vector<T>& list, Line& line, const char* owner) {
  if (list.empty()) line.fail(fmt::format("no {} precedes it", owner));
  return list.back();
}

/// The next place of a fixed list that `count` fills.
template <typename T, typename Count, std::size_t N>
T& next(T (&list)[N], Count& count, Line& line) {
  if (count >= N) line.fail(fmt::format("more than {} of its kind", N));
  return list[count++];
}

void parse_record_part(std::string_view keyword, Line& line, Program& program) {
  NodeRecord& record = last(program.records, line, "record");
  if (keyword == "operand") {
    OperandRecord& operand = next(record.operands, record.operand_count, line);
    ElementType type{};
    line.expect("storage").number(operand.storage).expect("map").number(operand.map);
    line.expect("type").named(type, ir::parse_dtype).expect("flags").number(operand.flags);
    line.expect("offset").number(operand.offset).expect("sizes").array(operand.sizes);
    line.expect("strides").array(operand.strides);
    operand.type = static_cast<std::uint8_t>(type);
  } else if (keyword == "constant") {
    line.number(next(record.constants, record.constant_count, line));
  } else {
    CodeWord& word = next(record.code, record.code_count, line);
    CodeOp op{};
    ElementType type{};
    line.named(op, parse_code_op).number(word.source).number(word.third).named(type, ir::parse_dtype);
    word.op = static_cast<std::uint8_t>(op);
    word.type = static_cast<std::uint8_t>(type);
  }
}

void parse_instruction(Line& line, Program& program) {
  Instruction& instruction = program.instructions.emplace_back();
  instruction.number = static_cast<std::uint32_t>(program.instructions.size() - 1);
  line.expect("icode").number(instruction.icode).expect("flags").number(instruction.flags);
  line.expect("record").number(instruction.node).expect("index");
  instruction.index_count =
      static_cast<std::uint8_t>(line.list(kMaxIndices, [&](std::size_t i) { line.number(instruction.index[i]); }));
  line.expect("release").number(instruction.release_order[0]).number(instruction.release_order[1]);
}

void parse_wait(Line& line, Program& program) {
  Instruction& instruction = last(program.instructions, line, "instruction");
  const int at = instruction.wait_count;
  Wait& wait = next(instruction.waits, instruction.wait_count, line);
  std::uint8_t& guard = at < 4 ? instruction.guards[at] : instruction.guards_high[at - 4];
  line.number(wait.counter).expect("needs").number(wait.needed).expect("of").number(wait.arrivals);
  line.expect("guard").number(guard);
}

void parse_port(Line& line, std::vector<Port>& ports) {
  Port& port = ports.emplace_back();
  line.quoted(port.name).expect("storage").number(port.storage).expect("type").named(port.type, ir::parse_dtype);
  line.expect("offset").number(port.offset).expect("sizes").vector(port.sizes).expect("strides").vector(port.strides);
}

void parse_table_line(std::string_view keyword, Line& line, Program& program) {
  if (keyword == "storage") {
    Storage& storage = program.storages.emplace_back();
    line.quoted(storage.name).expect("kind").named(storage.kind, parse_storage_kind);
    line.expect("bytes").number(storage.bytes).expect("mutated").flag(storage.mutated);
    line.expect("device").number(storage.device);
  } else if (keyword == "map") {
    TensorMapDescription& map = program.maps.emplace_back();
    line.expect("storage").number(map.storage).expect("type").named(map.type, ir::parse_dtype);
    line.expect("rank").number(map.rank).expect("offset").number(map.offset).expect("sizes").array(map.sizes);
    line.expect("strides").array(map.strides).expect("box").array(map.box);
    line.expect("swizzle").named(map.swizzle, parse_swizzle);
  } else if (keyword == "node") {
    NodeInfo& node = program.nodes.emplace_back();
    line.quoted(node.name).expect("op").quoted(node.op).expect("source").quoted(node.source);
    line.expect("icode").number(node.icode).expect("first").number(node.first).expect("count").number(node.count);
    line.expect("bytes").number(node.bytes).expect("operations").number(node.operations);
  } else if (keyword == "record") {
    NodeRecord& record = program.records.emplace_back();
    line.expect("node").number(record.number).expect("flags").number(record.flags);
    line.expect("outputs").number(record.output_count).expect("extents").array(record.extents);
    line.expect("parameters").array(record.parameters).expect("reserved").array(record.reserved);
  } else if (keyword == "type") {
    UserType& type = program.types.emplace_back();
    line.number(type.icode).quoted(type.name).expect("fingerprint").quoted(type.fingerprint);
  } else if (keyword == "counter") {
    Counter& counter = program.counters.emplace_back();
    line.expect("arrivals").number(counter.arrivals).expect("reuse").flag(counter.reuse);
    line.expect("scope").named(counter.scope, parse_counter_scope);
  } else {
    line.fail(fmt::format("unknown keyword '{}'", keyword));
  }
}

void parse_line(Line& line, Program& program) {
  const std::string_view keyword = line.word();
  if (keyword == "name") {
    line.quoted(program.name);
  } else if (keyword == "config") {
    Config& config = program.config;
    line.expect("target").named(config.architecture, parse_architecture);
    line.expect("queue").named(config.queue, parse_queue_mode).expect("sms").number(config.sms);
    line.expect("cluster").number(config.cluster).expect("slots").number(config.slots);
    line.expect("pages").number(config.pages).expect("page_bytes").number(config.page_bytes);
  } else if (keyword == "operand" || keyword == "constant" || keyword == "code") {
    parse_record_part(keyword, line, program);
  } else if (keyword == "instruction") {
    parse_instruction(line, program);
  } else if (keyword == "wait") {
    parse_wait(line, program);
  } else if (keyword == "raise") {
    Instruction& instruction = last(program.instructions, line, "instruction");
    line.number(next(instruction.arrivals, instruction.arrival_count, line));
  } else if (keyword == "input" || keyword == "output") {
    parse_port(line, keyword == "input" ? program.inputs : program.outputs);
  } else {
    parse_table_line(keyword, line, program);
  }
  line.finish();
}

}  // namespace

Program from_text(std::string_view text) {
  Program program;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number > 1) {
      if (end > 0) parse_line(line, program);
      continue;
    }
    std::uint32_t version = 0;
    line.expect("megakittens-program").number(version).finish();
    if (version != kProgramVersion)
      line.fail(fmt::format("version {}; this build reads version {}", version, kProgramVersion));
  }
  if (number == 0) throw FormatError("program text: it is empty");
  verify_bounds(program);
  return program;
}

}  // namespace megakittens::program
