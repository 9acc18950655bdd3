#include "schedule/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/verify_order.hpp"
#include "schedule/verify_space.hpp"
#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

using program::Instruction;
using program::NodeRecord;
using program::Program;
using program::StorageKind;

constexpr std::uint32_t kNobody = ~0u;

/// What one instruction does to one operand.
struct Access {
  std::uint32_t instruction;
  std::uint16_t operand;
  bool write;
};

/// All accesses to one storage, by instruction.
struct StorageAccesses {
  std::vector<Access> accesses;
  std::vector<ByteRegion> regions;
};

class Verifier {
 public:
  Verifier(const Program& program, const VerifyOptions& options) : program_(program), options_(options) {}
  std::vector<Finding> run();

 private:
  void collect();
  void add_region(const Instruction& instruction, const ops::Region& region);
  void sweep(std::uint32_t storage);
  void sweep_read(std::uint32_t storage, std::size_t a, const CellSpace& space);
  void sweep_write(std::uint32_t storage, std::size_t a, const CellSpace& space);
  void check_page_maps();
  void check_returned(std::uint32_t storage, const CellSpace& space);
  void check_pair(std::uint32_t storage, std::uint32_t link, std::size_t second, Rule rule);
  void check_still_there(std::uint32_t storage, std::uint32_t link, std::size_t reader);
  void report_pair(std::uint32_t storage, std::size_t first, std::size_t second, Rule rule);
  void report(Finding finding);
  bool full() const { return findings_.size() >= options_.most; }
  const ops::InstructionType& type_of(std::uint16_t icode) const {
    return options_.type_of ? options_.type_of(icode) : ops::type_of_icode(icode);
  }
  std::string describe(std::uint32_t instruction) const;
  std::string describe(std::uint32_t storage, std::size_t access) const;

  const Program& program_;
  const VerifyOptions& options_;
  std::vector<Finding> findings_;
  std::vector<bool> written_;             // by storage: some node writes it
  std::vector<StorageAccesses> touched_;  // by storage
  std::vector<std::uint8_t> guards_;      // by instruction
  std::optional<Order> order_;
  std::vector<std::uint32_t> position_;  // by instruction: in an order that agrees with all waits

  // State of the storage being swept; accesses are known by their number in it.
  struct Link {
    std::uint32_t access;
    std::uint32_t next;
  };
  std::vector<std::uint32_t> writer_;   // by cell: link of the last write; its next is the one before
  std::vector<std::uint32_t> readers_;  // by cell: link of a read since then
  std::vector<Link> links_;
  struct Answer {
    std::uint64_t asking = 0;
    Order::Relation relation = Order::Relation::none;
  };
  std::vector<Answer> answers_;  // by instruction, to the access that asked last
  std::uint64_t asking_ = 0;
  bool keep_readers_ = true;  // some write is still to come
};

std::vector<Finding> Verifier::run() {
  try {
    program::verify_bounds(program_);
  } catch (const FormatError& error) {
    report({Rule::bounds, 0, 0, error.what()});
    return findings_;
  }
  findings_ = verify_fit(program_, options_);
  if (!findings_.empty()) return findings_;
  check_page_maps();
  collect();
  order_.emplace(program_, guards_);
  if (order_->check([&](Finding finding) { report(std::move(finding)); })) {
    answers_.resize(program_.instructions.size());
    position_.resize(program_.instructions.size());
    for (std::uint32_t p = 0; p < position_.size(); ++p) position_[order_->sequence()[p]] = p;
    for (std::uint32_t s = 0; s < program_.storages.size() && !full(); ++s)
      if (written_[s] || program_.storages[s].kind != StorageKind::input) sweep(s);
  }
  std::ranges::stable_sort(findings_, {}, &Finding::instruction);
  return findings_;
}

void Verifier::report(Finding finding) {
  if (!full()) findings_.push_back(std::move(finding));
}

std::string Verifier::describe(std::uint32_t instruction) const {
  const Instruction& i = program_.instructions[instruction];
  if (program_.records.empty()) return fmt::format("instruction {}", instruction);
  const program::NodeInfo& node = program_.nodes[program_.records[i.node].number];
  return fmt::format("instruction {} ({} of node '{}')", instruction, i.icode == 0 ? "noop" : node.op, node.name);
}

std::string Verifier::describe(std::uint32_t storage, std::size_t access) const {
  const ByteRegion& region = touched_[storage].regions[access];
  std::string text = fmt::format("bytes {}", region.offset);
  for (int d = 0; d < region.rank; ++d)
    text += d + 1 < region.rank ? fmt::format(" + {}x{}", region.sizes[d], region.strides[d])
                                : fmt::format(" + {}", region.sizes[d]);
  return text;
}

void Verifier::check_page_maps() {
  const std::uint32_t pages = program_.config.pages;
  auto order_of = [](const Instruction& instruction) {
    return std::uint64_t{instruction.release_order[1]} << 32 | instruction.release_order[0];
  };
  const bool pairs = program_.config.cluster == 2 && program_.config.queue == program::QueueMode::per_sm;
  const std::uint64_t used = pages < 16 ? (std::uint64_t{1} << (4 * pages)) - 1 : ~std::uint64_t{0};
  for (const Instruction& instruction : program_.instructions) {
    const std::uint64_t order = order_of(instruction);
    std::uint32_t seen = 0;
    for (std::uint32_t q = 0; q < pages; ++q) seen |= 1u << (order >> (4 * q) & 15);
    if (seen != (1u << pages) - 1)
      report({Rule::page_maps, instruction.number, instruction.number,
              fmt::format("{} releases its pages in the order {:#x}, which does not name each of {} once",
                          describe(instruction.number), order, pages)});
    if (!pairs || instruction.number % 2 == 0) continue;
    const Instruction& partner = program_.instructions[instruction.number - 1];
    if (((order ^ order_of(partner)) & used) != 0)
      report(
          {Rule::page_maps, instruction.number, partner.number,
           fmt::format("{} releases its pages in the order {:#x}, {} of the same pair in the order {:#x}: their page "
                       "maps differ from here on",
                       describe(instruction.number), order, describe(partner.number), order_of(partner))});
  }
}

void Verifier::collect() {
  written_.assign(program_.storages.size(), false);
  touched_.resize(program_.storages.size());
  guards_.assign(program_.instructions.size(), 0);
  for (const NodeRecord& record : program_.records)
    for (int k = record.operand_count - record.output_count; k < record.operand_count; ++k)
      written_[record.operands[k].storage] = true;
  for (const Instruction& instruction : program_.instructions) {
    if (instruction.icode == 0) {
      guards_[instruction.number] = 0xff;
      continue;
    }
    for (const ops::Region& region :
         type_of(instruction.icode).regions(program_.records[instruction.node], instruction))
      add_region(instruction, region);
  }
}

void Verifier::add_region(const Instruction& instruction, const ops::Region& region) {
  const NodeRecord& record = program_.records[instruction.node];
  guards_[instruction.number] |=
      region.write ? program::kGuardWrite : program::guard_bit(static_cast<std::uint32_t>(region.operand));
  const ByteRegion bytes = ByteRegion::of(region);
  if (bytes.rank == 0) return;
  const bool is_output = region.operand >= record.operand_count - record.output_count;
  if (region.storage >= program_.storages.size() || bytes.offset < 0 ||
      bytes.end() > static_cast<std::int64_t>(program_.storages[region.storage].bytes) ||
      (region.write && !is_output)) {
    report({Rule::outside, instruction.number, instruction.number,
            fmt::format("{} {} bytes {} to {} as operand {}, which {}", describe(instruction.number),
                        region.write ? "writes" : "reads", bytes.offset, bytes.end(), region.operand,
                        region.write && !is_output ? std::string("is no output")
                                                   : fmt::format("reaches past storage {}", region.storage))});
    return;
  }
  if (!written_[region.storage] && program_.storages[region.storage].kind == StorageKind::input) return;
  StorageAccesses& touched = touched_[region.storage];
  touched.accesses.push_back({instruction.number, static_cast<std::uint16_t>(region.operand), region.write});
  touched.regions.push_back(bytes);
}

// Walks the storage's accesses in an order that agrees with all waits, and keeps for each cell its last writer and who
// read it since. Comparing neighbours in each cell's history covers all pairs: order is transitive.
void Verifier::sweep(std::uint32_t storage) {
  StorageAccesses& touched = touched_[storage];
  // What the caller gets back is read once more, at the end.
  const std::size_t own = touched.accesses.size();
  for (const program::Port& port : program_.outputs) {
    if (port.storage != storage || program_.storages[storage].kind == StorageKind::input) continue;
    touched.regions.push_back(ByteRegion::of(
        {.storage = storage, .type = port.type, .offset = port.offset, .sizes = port.sizes, .strides = port.strides}));
  }
  const CellSpace space(touched.regions);
  writer_.assign(space.cells(), kNobody);
  readers_.assign(space.cells(), kNobody);
  links_.clear();
  std::vector<std::uint32_t> order(own);
  for (std::uint32_t a = 0; a < own; ++a) order[a] = a;
  // An instruction reads before it writes.
  auto key = [&](std::uint32_t a) {
    return std::pair(position_[touched.accesses[a].instruction], touched.accesses[a].write);
  };
  if (!std::ranges::is_sorted(order, {}, key)) std::ranges::stable_sort(order, {}, key);
  auto writes_left = std::ranges::count_if(touched.accesses, &Access::write);
  for (std::uint32_t a : order) {
    if (full()) return;
    keep_readers_ = writes_left > 0;
    if (touched.accesses[a].write) {
      sweep_write(storage, a, space);
      --writes_left;
    } else {
      sweep_read(storage, a, space);
    }
  }
  check_returned(storage, space);
}

void Verifier::check_returned(std::uint32_t storage, const CellSpace& space) {
  const StorageAccesses& touched = touched_[storage];
  for (std::size_t r = touched.accesses.size(); r < touched.regions.size(); ++r) {
    bool missing = false;
    space.for_each_cell(r, [&](std::size_t cell) { missing = missing || writer_[cell] == kNobody; });
    if (missing)
      report({Rule::never_written, 0, 0,
              fmt::format("the output in storage {} '{}' is returned, but parts of it are never written", storage,
                          program_.storages[storage].name),
              storage});
  }
}

void Verifier::sweep_read(std::uint32_t storage, std::size_t a, const CellSpace& space) {
  const Access& access = touched_[storage].accesses[a];
  ++asking_;
  bool missing = false;
  space.for_each_cell(a, [&](std::size_t cell) {
    if (writer_[cell] == kNobody)
      missing = true;
    else
      check_pair(storage, writer_[cell], a, Rule::read_after_write);
    if (!keep_readers_) return;
    links_.push_back({static_cast<std::uint32_t>(a), readers_[cell]});
    readers_[cell] = static_cast<std::uint32_t>(links_.size() - 1);
  });
  if (missing && program_.storages[storage].kind != StorageKind::input)
    report({Rule::never_written, access.instruction, access.instruction,
            fmt::format("{} reads {} of storage {} '{}' as operand {}, but parts of it are not written before",
                        describe(access.instruction), describe(storage, a), storage, program_.storages[storage].name,
                        access.operand),
            storage});
}

void Verifier::sweep_write(std::uint32_t storage, std::size_t a, const CellSpace& space) {
  const StorageAccesses& touched = touched_[storage];
  ++asking_;
  space.for_each_cell(a, [&](std::size_t cell) {
    bool others = false;
    for (std::uint32_t r = readers_[cell]; r != kNobody; r = links_[r].next) {
      others = others || touched.accesses[links_[r].access].instruction != touched.accesses[a].instruction;
      check_pair(storage, r, a, Rule::write_after_read);
    }
    if (!others && writer_[cell] != kNobody) check_pair(storage, writer_[cell], a, Rule::write_after_write);
    readers_[cell] = kNobody;
    links_.push_back({static_cast<std::uint32_t>(a), writer_[cell]});
    writer_[cell] = static_cast<std::uint32_t>(links_.size() - 1);
  });
}

void Verifier::check_pair(std::uint32_t storage, std::uint32_t link, std::size_t second, Rule rule) {
  const StorageAccesses& touched = touched_[storage];
  const std::size_t first = links_[link].access;
  const std::uint32_t before = touched.accesses[first].instruction;
  const Access& access = touched.accesses[second];
  if (before == access.instruction || full()) return;
  Answer& answer = answers_[before];
  if (answer.asking != asking_) {
    const std::uint32_t guard = access.write ? program::kGuardWrite : program::guard_bit(access.operand);
    answer = {asking_, order_->relation(before, access.instruction, guard)};
    if (answer.relation == Order::Relation::none) report_pair(storage, first, second, rule);
  }
  if (answer.relation == Order::Relation::indirect && rule == Rule::read_after_write)
    check_still_there(storage, link, second);
}

// A reader that waits directly for an older writer of the cell, and for the last one only by way of others, meant to
// read what the older one wrote.
void Verifier::check_still_there(std::uint32_t storage, std::uint32_t link, std::size_t reader) {
  const StorageAccesses& touched = touched_[storage];
  const Access& access = touched.accesses[reader];
  const std::uint32_t guard = program::guard_bit(access.operand);
  for (std::uint32_t older = links_[link].next; older != kNobody; older = links_[older].next) {
    const std::uint32_t writer = touched.accesses[links_[older].access].instruction;
    if (writer == access.instruction || order_->relation(writer, access.instruction, guard) != Order::Relation::direct)
      continue;
    return report_pair(storage, links_[link].access, reader, Rule::live_overlap);
  }
}

void Verifier::report_pair(std::uint32_t storage, std::size_t first, std::size_t second, Rule rule) {
  const StorageAccesses& touched = touched_[storage];
  const Access& before = touched.accesses[first];
  const Access& after = touched.accesses[second];
  const std::string_view reason = rule == Rule::live_overlap
                                      ? "waiting for an older writer of what meanwhile is overwritten by"
                                      : "without waiting for";
  report({rule, after.instruction, before.instruction,
          fmt::format("{}: {} {} {} of storage {} '{}' as operand {} {} {}, which {} {}", name_of(rule),
                      describe(after.instruction), after.write ? "writes" : "reads", describe(storage, second), storage,
                      program_.storages[storage].name, after.operand, reason, describe(before.instruction),
                      before.write ? "writes" : "reads", describe(storage, first))});
}

}  // namespace

std::string_view name_of(Rule rule) {
  constexpr std::string_view kNames[] = {
#define MK_X(enumerator, name) name,
      MK_RULES(MK_X)
#undef MK_X
  };
  return kNames[static_cast<std::size_t>(rule)];
}

std::vector<Finding> verify(const Program& program, const VerifyOptions& options) {
  return Verifier(program, options).run();
}

}  // namespace megakittens::schedule
