// Structural bounds of a program, whoever wrote it: what verify_bounds promises is what runtime, emulator and tools
// rely on when they follow an index.
#include <algorithm>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::program {
namespace {

__extension__ using Wide = __int128;  // sizes times strides of a hostile file do not overflow it

#define MK_BOUND(condition, ...)                                                 \
  do {                                                                           \
    if (!(condition)) throw FormatError("program: " + fmt::format(__VA_ARGS__)); \
  } while (false)

void check_config(const Config& config) {
  const auto target = static_cast<std::size_t>(config.architecture);
  MK_BOUND(target < std::size(kTargets), "target number {}; this build has {}", target, target_names());
  MK_BOUND(config.queue <= QueueMode::global, "unknown queue mode");
  MK_BOUND(config.sms >= 1 && config.sms <= 4096, "{} SMs; 1 to 4096 are possible", config.sms);
  MK_BOUND(config.cluster == 1 || config.cluster == 2, "cluster size {}; 1 and 2 are possible", config.cluster);
  MK_BOUND(config.sms % config.cluster == 0, "{} SMs do not divide into clusters of {}", config.sms, config.cluster);
  MK_BOUND(config.slots >= 1 && config.slots <= 16, "{} slots; 1 to 16 are possible", config.slots);
  // A release order names a page by four bits.
  MK_BOUND(config.pages >= 1 && config.pages <= 16, "{} pages; 1 to 16 are possible", config.pages);
  MK_BOUND(config.page_bytes >= 1024 && config.page_bytes <= (1u << 20) && config.page_bytes % 1024 == 0,
           "pages of {} bytes", config.page_bytes);
}

void check_storages(const Program& program) {
  for (std::size_t i = 0; i < program.storages.size(); ++i) {
    const Storage& storage = program.storages[i];
    MK_BOUND(storage.kind <= StorageKind::workspace, "storage {} is of unknown kind", i);
    MK_BOUND(storage.bytes < (1ull << 48), "storage {} of {} bytes", i, storage.bytes);
    MK_BOUND(storage.kind == StorageKind::input || storage.bytes % 128 == 0,
             "storage {} of {} bytes, not a multiple of 128", i, storage.bytes);
  }
}

/// Elements [offset, last] that a strided box reaches lie inside the storage.
template <typename Sizes, typename Strides>
void check_extent(const Program& program, std::uint32_t storage, ElementType type, std::int64_t offset, int rank,
                  const Sizes& sizes, const Strides& strides, const std::string& what) {
  MK_BOUND(storage < program.storages.size(), "{}: storage {} of {}", what, storage, program.storages.size());
  MK_BOUND(ir::is_dtype(type), "{}: unknown element type {}", what, static_cast<int>(type));
  Wide last = offset;
  for (int d = 0; d < rank; ++d) {
    MK_BOUND(sizes[d] >= 0 && strides[d] >= 0, "{}: negative size or stride in dimension {}", what, d);
    if (sizes[d] == 0) return;
    last += Wide(sizes[d] - 1) * strides[d];
  }
  MK_BOUND(offset >= 0 && (last + 1) * size_of(type) <= Wide(program.storages[storage].bytes),
           "{}: reaches past the {} bytes of storage {}", what, program.storages[storage].bytes, storage);
}

void check_maps(const Program& program) {
  MK_BOUND(program.maps.size() < kNoMap, "{} tensor maps; {} are possible", program.maps.size(), kNoMap - 1);
  for (std::size_t i = 0; i < program.maps.size(); ++i) {
    const TensorMapDescription& map = program.maps[i];
    const std::string what = fmt::format("tensor map {}", i);
    MK_BOUND(map.rank >= 1 && map.rank <= 5, "{}: rank {}", what, map.rank);
    MK_BOUND(map.swizzle <= Swizzle::b128, "{}: unknown swizzle", what);
    MK_BOUND(map.storage < program.storages.size(), "{}: storage {} of {}", what, map.storage, program.storages.size());
    MK_BOUND(ir::is_dtype(map.type), "{}: unknown element type {}", what, static_cast<int>(map.type));
    const Wide element = size_of(map.type);
    Wide last = Wide(map.offset) * element + element;
    for (std::uint32_t d = 0; d < map.rank; ++d) {
      MK_BOUND(map.sizes[d] >= 1 && map.sizes[d] <= (1ull << 32), "{}: size {} in dimension {}", what, map.sizes[d], d);
      MK_BOUND(map.box[d] >= 1 && map.box[d] <= 256, "{}: box of {} in dimension {}", what, map.box[d], d);
      MK_BOUND(d > 0 || map.strides[0] == element, "{}: innermost stride {}", what, map.strides[0]);
      MK_BOUND(d == 0 || (map.strides[d] % 16 == 0 && map.strides[d] < (1ull << 40)), "{}: stride {} in dimension {}",
               what, map.strides[d], d);
      last += Wide(map.sizes[d] - 1) * map.strides[d];
    }
    MK_BOUND(map.offset >= 0 && Wide(map.offset) * element % 16 == 0, "{}: offset {} elements", what, map.offset);
    MK_BOUND(last <= Wide(program.storages[map.storage].bytes), "{}: reaches past the {} bytes of storage {}", what,
             program.storages[map.storage].bytes, map.storage);
  }
}

/// What a count leaves unused holds zeros: a reader that looks too far finds nothing, and all forms round-trip.
template <typename T, std::size_t N>
void check_unused(const T (&list)[N], std::size_t count, const std::string& what) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(list + count);
  const auto* end = reinterpret_cast<const unsigned char*>(list + N);
  MK_BOUND(std::all_of(bytes, end, [](unsigned char byte) { return byte == 0; }), "{}: entries after {} are not zero",
           what, count);
}

void check_code(const NodeRecord& record, const std::string& what) {
  const int constants_end = kSourceConstant + record.constant_count;
  auto is_operand = [&](int source) { return source < record.operand_count; };
  auto is_source = [&](int source) {
    return is_operand(source) || (source >= kSourceTemporary && source < constants_end);
  };
  for (int i = 0; i < record.code_count; ++i) {
    const CodeWord& word = record.code[i];
    MK_BOUND(is_code_op(word.op), "{}: unknown code operation {} at {}", what, word.op, i);
    MK_BOUND(ir::is_dtype(ElementType{word.type}), "{}: unknown type {} at {}", what, word.type, i);
    const auto op = static_cast<CodeOp>(word.op);
    MK_BOUND(!has_source(op) || is_source(word.source), "{}: code source {} at {}", what, word.source, i);
    MK_BOUND((op != CodeOp::where && op != CodeOp::keep) || (word.third & ~kRoundsAfter) < kTemporaries,
             "{}: temporary {} at {}", what, word.third, i);
    MK_BOUND(op != CodeOp::store || is_operand(word.third), "{}: store to operand {} at {}", what, word.third, i);
  }
}

void check_records(const Program& program) {
  for (std::size_t i = 0; i < program.records.size(); ++i) {
    const NodeRecord& record = program.records[i];
    const std::string what = fmt::format("node record {}", i);
    MK_BOUND(record.number < program.nodes.size(), "{}: node {} of {}", what, record.number, program.nodes.size());
    MK_BOUND(record.operand_count <= kMaxOperands && record.output_count <= record.operand_count,
             "{}: {} operands with {} outputs; {} are possible", what, record.operand_count, record.output_count,
             kMaxOperands);
    MK_BOUND(record.code_count <= kMaxCode, "{}: {} code words; {} are possible", what, record.code_count, kMaxCode);
    MK_BOUND(record.constant_count <= kMaxConstants, "{}: {} constants; {} are possible", what, record.constant_count,
             kMaxConstants);
    check_unused(record.operands, record.operand_count, what + ", operands");
    check_unused(record.code, record.code_count, what + ", code");
    check_unused(record.constants, record.constant_count, what + ", constants");
    for (int k = 0; k < record.operand_count; ++k) {
      const OperandRecord& operand = record.operands[k];
      const std::string part = fmt::format("{}, operand {}", what, k);
      check_extent(program, operand.storage, static_cast<ElementType>(operand.type), operand.offset, kMaxTileRank,
                   operand.sizes, operand.strides, part);
      if (operand.map == kNoMap) continue;
      MK_BOUND(operand.map < program.maps.size(), "{}: tensor map {} of {}", part, operand.map, program.maps.size());
      const TensorMapDescription& map = program.maps[operand.map];
      MK_BOUND(k < record.operand_count - record.output_count || Wide(map.sizes[0]) * size_of(map.type) % 16 == 0,
               "{}: a store through tensor map {} would write past rows of {} elements", part, operand.map,
               map.sizes[0]);
    }
    check_code(record, what);
  }
}

void check_unused_words(const Instruction& instruction) {
  auto all_zero = [](const auto* begin, const auto* end) {
    return std::all_of(begin, end, [](auto word) { return word == 0; });
  };
  bool clear = instruction.reserved == 0 && instruction.spare == 0 &&
               all_zero(std::begin(instruction.unused), std::end(instruction.unused)) &&
               all_zero(instruction.index + instruction.index_count, std::end(instruction.index)) &&
               all_zero(instruction.arrivals + instruction.arrival_count, std::end(instruction.arrivals));
  for (int w = instruction.wait_count; w < kMaxWaits; ++w)
    clear = clear && instruction.guard(w) == 0 && instruction.waits[w].counter == 0 &&
            instruction.waits[w].needed == 0 && instruction.waits[w].arrivals == 0;
  for (int w = std::max(kMaxWaits, 4); w < 12; ++w) clear = clear && instruction.guard(w) == 0;
  MK_BOUND(clear, "instruction {}: unused words are not zero", instruction.number);
}

void check_instruction(const Program& program, std::size_t i) {
  const Instruction& instruction = program.instructions[i];
  MK_BOUND(instruction.number == i, "instruction {} calls itself {}", i, instruction.number);
  MK_BOUND(instruction.node < program.records.size() || (instruction.icode == 0 && instruction.node == 0),
           "instruction {}: node record {} of {}", i, instruction.node, program.records.size());
  MK_BOUND(instruction.index_count <= kMaxIndices, "instruction {}: {} indices; {} are possible", i,
           instruction.index_count, kMaxIndices);
  MK_BOUND(instruction.wait_count <= kMaxWaits, "instruction {}: {} waits; {} are possible", i, instruction.wait_count,
           kMaxWaits);
  MK_BOUND(instruction.arrival_count <= kMaxArrivals, "instruction {}: {} arrivals; {} are possible", i,
           instruction.arrival_count, kMaxArrivals);
  check_unused_words(instruction);
  for (std::uint32_t q = 0; q < program.config.pages; ++q) {
    const std::uint32_t page = instruction.release_order[q / 8] >> (4 * (q % 8)) & 15;
    MK_BOUND(page < program.config.pages, "instruction {}: releases page {} of {}", i, page, program.config.pages);
  }
  for (int w = 0; w < instruction.wait_count; ++w) {
    const Wait& wait = instruction.waits[w];
    MK_BOUND(wait.counter < program.counters.size(), "instruction {}: waits for counter {} of {}", i, wait.counter,
             program.counters.size());
    const std::uint32_t arrivals = program.counters[wait.counter].arrivals;
    MK_BOUND(wait.arrivals == arrivals, "instruction {}: counter {} has {} arrivals, not {}", i, wait.counter, arrivals,
             wait.arrivals);
    MK_BOUND(wait.needed >= 1 && wait.needed <= arrivals, "instruction {}: needs {} of the {} arrivals of counter {}",
             i, wait.needed, arrivals, wait.counter);
  }
  for (int a = 0; a < instruction.arrival_count; ++a)
    MK_BOUND(instruction.arrivals[a] < program.counters.size(), "instruction {}: raises counter {} of {}", i,
             instruction.arrivals[a], program.counters.size());
}

void check_ports(const Program& program, const std::vector<Port>& ports, const char* which) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const Port& port = ports[i];
    MK_BOUND(port.sizes.size() == port.strides.size() && port.sizes.size() <= 8, "{} {}: {} sizes and {} strides",
             which, i, port.sizes.size(), port.strides.size());
    check_extent(program, port.storage, port.type, port.offset, static_cast<int>(port.sizes.size()), port.sizes,
                 port.strides, fmt::format("{} {}", which, i));
  }
}

}  // namespace

void verify_bounds(const Program& program) {
  check_config(program.config);
  check_storages(program);
  check_maps(program);
  for (std::size_t c = 0; c < program.counters.size(); ++c)
    MK_BOUND(program.counters[c].scope <= CounterScope::system, "counter {} is of unknown scope", c);
  MK_BOUND(program.instructions.size() < (1ull << 31), "{} instructions", program.instructions.size());
  for (std::size_t i = 0; i < program.nodes.size(); ++i)
    MK_BOUND(std::uint64_t{program.nodes[i].first} + program.nodes[i].count <= program.instructions.size(),
             "node {}: instructions {} to {} of {}", i, program.nodes[i].first,
             std::uint64_t{program.nodes[i].first} + program.nodes[i].count, program.instructions.size());
  check_records(program);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) check_instruction(program, i);
  check_ports(program, program.inputs, "input");
  check_ports(program, program.outputs, "output");
}

void expect_interpreter(const Config& config) {
  const Family& family = target_of(config.architecture).family;
  if (config.pages != family.pages || config.page_bytes != family.page_bytes || config.slots != family.slots)
    throw CapacityError(fmt::format(
        "the program was scheduled for {} pages of {} bytes and {} slots; this interpreter has {} of {} and {}",
        config.pages, config.page_bytes, config.slots, family.pages, family.page_bytes, family.slots));
}

std::string unserved_part(const Program& program) {
  for (const Storage& storage : program.storages)
    if (const Storage& first = program.storages[0]; storage.device != first.device)
      return fmt::format("storage '{}' lies on device {} and storage '{}' on device {}; a program runs on one device",
                         first.name, first.device, storage.name, storage.device);
  for (std::size_t c = 0; c < program.counters.size(); ++c)
    if (program.counters[c].scope != CounterScope::gpu)
      return fmt::format("counter {} has scope '{}'; programs run with counters of scope 'gpu'", c,
                         name_of(program.counters[c].scope));
  return {};
}

void expect_served(const Program& program) {
  if (const std::string part = unserved_part(program); !part.empty())
    throw UnsupportedError(fmt::format("program '{}' cannot run: {}", program.name, part));
}

}  // namespace megakittens::program
