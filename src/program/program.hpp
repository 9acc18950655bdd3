// A scheduled program: everything a machine needs to run a graph, as data. Host side.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"
#include "program/instruction.hpp"
#include "program/node_record.hpp"
#include "program/targets.hpp"

namespace megakittens::program {

enum class QueueMode : std::uint8_t { per_sm, global };

std::string_view name_of(Architecture architecture);
/// Throws OptionError listing the known names; so do the parsers below.
Architecture parse_architecture(std::string_view text);
/// All names: "sm_90a, sm_100a".
std::string target_names(std::string_view separator = ", ");
/// All of them with a figure: "132 for sm_90a, ...".
std::string usual_sms_text();
/// "per-sm", "global".
std::string_view name_of(QueueMode mode);
QueueMode parse_queue_mode(std::string_view text);
using ir::name_of;
using ir::size_of;

/// What the interpreter build and the launch must agree on.
struct Config {
  Architecture architecture = Architecture::sm_90a;
  QueueMode queue = QueueMode::per_sm;
  std::uint32_t sms = kTargets[0].sms;
  std::uint32_t cluster = 2;
  std::uint32_t slots = kTargets[0].family.slots;
  std::uint32_t pages = kTargets[0].family.pages;
  std::uint32_t page_bytes = kTargets[0].family.page_bytes;
  bool operator==(const Config&) const = default;
};

enum class StorageKind : std::uint8_t {
  input,      ///< bound by the caller
  output,     ///< fresh for every call; returned to the caller
  workspace,  ///< ours, between nodes
};

/// A run of bytes with one base address. Base and size are multiples of 128 bytes unless it is an input.
struct Storage {
  std::string name;
  StorageKind kind = StorageKind::workspace;
  std::uint64_t bytes = 0;
  bool mutated = false;      ///< an input that the program writes
  std::uint16_t device = 0;  ///< as ir::Device::index; a program's storages all lie on one, whichever it runs on
  bool operator==(const Storage&) const = default;
};

/// "input", "output", "workspace".
std::string_view name_of(StorageKind kind);
StorageKind parse_storage_kind(std::string_view text);

enum class Swizzle : std::uint8_t { none, b32, b64, b128 };

/// "none", "b32", "b64", "b128".
std::string_view name_of(Swizzle swizzle);
Swizzle parse_swizzle(std::string_view text);

/// A tensor map to make for a storage: as cuTensorMapEncodeTiled takes it, innermost dimension first.
struct TensorMapDescription {
  std::uint32_t storage = 0;
  ElementType type = ElementType::bf16;
  std::uint32_t rank = 2;
  std::int64_t offset = 0;        ///< elements from the storage's base; bytes a multiple of 16
  std::uint64_t sizes[5] = {};    ///< elements
  std::uint64_t strides[5] = {};  ///< bytes; strides[0] is the element size
  std::uint32_t box[5] = {};      ///< elements
  Swizzle swizzle = Swizzle::none;
  bool operator==(const TensorMapDescription&) const = default;
};

/// A tensor the caller passes or receives: where it lies in its storage.
struct Port {
  std::string name;
  std::uint32_t storage = 0;
  ElementType type = ElementType::bf16;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  bool operator==(const Port&) const = default;
};

/// A node as people speak of it.
struct NodeInfo {
  std::string name;
  std::string op;
  std::string source;
  std::uint16_t icode = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int64_t bytes = 0;       ///< moved, each operand once an instruction
  std::int64_t operations = 0;  ///< floating-point
  bool operator==(const NodeInfo&) const = default;
};

/// Who raises a counter and waits for it.
enum class CounterScope : std::uint8_t {
  gpu,     ///< the program's own GPU
  system,  ///< several GPUs; nothing serves it yet
};

/// "gpu", "system".
std::string_view name_of(CounterScope scope);
CounterScope parse_counter_scope(std::string_view text);

/// Counter `b` is raised `arrivals` times in one launch.
struct Counter {
  std::uint32_t arrivals = 0;
  bool reuse = false;  ///< guards storage that is used again
  CounterScope scope = CounterScope::gpu;
  bool operator==(const Counter&) const = default;
};

/// An instruction type that is not of the standard set, by the name under which the user registers it.
struct UserType {
  std::uint16_t icode = 0;  ///< in this process; files are given the reader's
  std::string name;
  std::string fingerprint;  ///< of its device half
  bool operator==(const UserType&) const = default;
};

struct Program {
  std::string name;
  Config config;
  std::vector<Storage> storages;
  std::vector<TensorMapDescription> maps;
  std::vector<NodeRecord> records;
  std::vector<NodeInfo> nodes;
  /// Emission order. per_sm: instruction i runs on SM i % sms as its (i / sms)-th. global: taken by ticket in order.
  std::vector<Instruction> instructions;
  std::vector<Counter> counters;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<UserType> types;

  /// How many instructions the longest list has, were the work spread over all SMs.
  std::uint32_t waves() const;
  /// Places left over in the last wave of the per-SM lists; the global queue has none.
  std::uint32_t empty_slots() const;
  /// The node of the first instruction, which most of a first wave belongs to; kNoNode where that is a noop or missing.
  std::uint32_t first_node() const;
  /// What a launch that fails fills: outputs but for bool ones, which have no value that says so.
  std::vector<OutputRecord> output_records() const;
};

inline constexpr std::uint32_t kProgramVersion = 4;

/// Binary form: magic, version, sizes, sections, checksum. from_bytes checks bounds of everything it reads and throws
/// FormatError; from_bytes(to_bytes(p)) == p.
std::string to_bytes(const Program& program);
Program from_bytes(std::string_view bytes);
bool equal(const Program& a, const Program& b);
/// Text form for people and comparison, a line a thing; from_text(to_text(p)) == p. from_text throws FormatError naming
/// the line.
std::string to_text(const Program& program);
Program from_text(std::string_view text);
/// Instruction `i` and its node record, decoded field by field. Throws OptionError where there is no such instruction.
std::string describe_instruction(const Program& program, std::size_t i);
std::string_view name_of(CodeOp op);
/// Whether the number is an operation's: a file's may be none.
bool is_code_op(std::uint8_t number);
/// Whether the operation reads CodeWord::source.
bool has_source(CodeOp op);
/// Throws OptionError naming the text.
CodeOp parse_code_op(std::string_view text);
/// Structural bounds: indices in range, counts within limits. Ordering is schedule::verify's. Throws FormatError.
void verify_bounds(const Program& program);
/// Throws CapacityError where the pages and slots are not those of the target's interpreter.
void expect_interpreter(const Config& config);
/// What the program needs that nothing here runs yet, by name: storages on two devices, a counter of system scope.
/// Empty where there is no such thing.
std::string unserved_part(const Program& program);
/// Throws UnsupportedError that names program and part where there is one.
void expect_served(const Program& program);

}  // namespace megakittens::program
