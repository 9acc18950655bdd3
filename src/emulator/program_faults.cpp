#include "emulator/program_faults.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace megakittens::emulator {
namespace {

using program::Instruction;
using program::Program;

std::uint8_t& guard(Instruction& instruction, int wait) {
  return wait < 4 ? instruction.guards[wait] : instruction.guards_high[wait - 4];
}

void remove_wait(Instruction& instruction, int wait) {
  for (int w = wait; w + 1 < instruction.wait_count; ++w) {
    instruction.waits[w] = instruction.waits[w + 1];
    guard(instruction, w) = guard(instruction, w + 1);
  }
  const int last = --instruction.wait_count;
  instruction.waits[last] = {};
  guard(instruction, last) = 0;
}

void remove_arrival(Instruction& instruction, int arrival) {
  for (int a = arrival; a + 1 < instruction.arrival_count; ++a) instruction.arrivals[a] = instruction.arrivals[a + 1];
  instruction.arrivals[--instruction.arrival_count] = 0;
}

/// The first wait that `suits`, of an instruction that does something. f(instruction, wait) is called with it.
template <class Suits, class F>
bool at_first_wait(Program& program, const Suits& suits, const F& f) {
  for (Instruction& instruction : program.instructions) {
    if (instruction.icode == 0) continue;
    for (int w = 0; w < instruction.wait_count; ++w) {
      if (!suits(instruction, w)) continue;
      f(instruction, w);
      return true;
    }
  }
  return false;
}

bool is_read(const Instruction& instruction, int wait) {
  return (instruction.guard(wait) & program::kGuardWrite) == 0;
}
bool is_write(const Instruction& instruction, int wait) {
  return instruction.guard(wait) == program::kGuardWrite;
}
bool several(const Instruction& instruction, int wait) {
  return is_read(instruction, wait) && instruction.waits[wait].needed > 1;
}

void set_arrivals(Program& program, std::uint32_t counter, std::uint32_t arrivals) {
  program.counters[counter].arrivals = arrivals;
  for (Instruction& instruction : program.instructions)
    for (int w = 0; w < instruction.wait_count; ++w)
      if (instruction.waits[w].counter == counter)
        instruction.waits[w].needed = instruction.waits[w].arrivals = arrivals;
}

bool forget_last_producer(Program& program) {
  return at_first_wait(program, several, [&](Instruction& instruction, int w) {
    const std::uint32_t counter = instruction.waits[w].counter;
    for (auto i = program.instructions.rbegin(); i != program.instructions.rend(); ++i) {
      const auto* end = i->arrivals + i->arrival_count;
      const auto* found = std::find(static_cast<const std::uint32_t*>(i->arrivals), end, counter);
      if (found == end) continue;
      remove_arrival(*i, static_cast<int>(found - i->arrivals));
      return set_arrivals(program, counter, program.counters[counter].arrivals - 1);
    }
  });
}

/// A counter that is complete before `instruction`, other than those it waits for; or none of the program's.
std::uint32_t other_counter(const Program& program, const Instruction& instruction) {
  std::vector<std::uint32_t> left(program.counters.size());
  for (std::size_t c = 0; c < left.size(); ++c) left[c] = program.counters[c].arrivals;
  for (std::uint32_t i = 0; i < instruction.number; ++i)
    for (int a = 0; a < program.instructions[i].arrival_count; ++a) --left[program.instructions[i].arrivals[a]];
  for (std::uint32_t c = 0; c < left.size(); ++c) {
    const auto* end = instruction.waits + instruction.wait_count;
    if (left[c] == 0 && program.counters[c].arrivals > 0 &&
        std::none_of(instruction.waits, end, [&](const program::Wait& wait) { return wait.counter == c; }))
      return c;
  }
  return static_cast<std::uint32_t>(left.size());
}

bool swap_target(Program& program) {
  auto suits = [&](const Instruction& instruction, int w) {
    return is_read(instruction, w) && other_counter(program, instruction) < program.counters.size();
  };
  return at_first_wait(program, suits, [&](Instruction& instruction, int w) {
    const std::uint32_t counter = other_counter(program, instruction);
    const std::uint32_t arrivals = program.counters[counter].arrivals;
    instruction.waits[w] = {.counter = counter, .needed = arrivals, .arrivals = arrivals};
  });
}

/// The first instruction whose wait is raised by another real one also waits for what it itself raises. New counters
/// are added, so that only the order is wrong.
bool wait_for_later(Program& program) {
  for (Instruction& later : program.instructions) {
    if (later.icode == 0 || later.wait_count == 0 || later.arrival_count == program::kMaxArrivals) continue;
    for (Instruction& earlier : program.instructions) {
      if (earlier.number >= later.number || earlier.icode == 0 || earlier.wait_count == program::kMaxWaits) continue;
      const auto* end = earlier.arrivals + earlier.arrival_count;
      if (std::find(static_cast<const std::uint32_t*>(earlier.arrivals), end, later.waits[0].counter) == end) continue;
      const auto counter = static_cast<std::uint32_t>(program.counters.size());
      program.counters.push_back({.arrivals = 1});
      later.arrivals[later.arrival_count++] = counter;
      guard(earlier, earlier.wait_count) = program::kGuardWrite;
      earlier.waits[earlier.wait_count++] = {.counter = counter, .needed = 1, .arrivals = 1};
      return true;
    }
  }
  return false;
}

bool spoil_page_map(Program& program, bool twice) {
  for (Instruction& instruction : program.instructions) {
    if (!twice && (program.config.cluster != 2 || instruction.number % 2 == 0)) continue;
    std::uint32_t& order = instruction.release_order[0];
    const std::uint32_t first = order & 15, second = order >> 4 & 15;
    order = (order & ~0xffu) | (twice ? first << 4 | first : first << 4 | second);
    return true;
  }
  return false;
}

bool double_arrival(Program& program) {
  auto suits = [&](const Instruction& instruction, int w) { return several(instruction, w); };
  std::uint32_t counter = ~0u;
  if (!at_first_wait(program, suits, [&](Instruction& i, int w) { counter = i.waits[w].counter; })) return false;
  for (Instruction& instruction : program.instructions) {
    const auto* end = instruction.arrivals + instruction.arrival_count;
    if (std::find(static_cast<const std::uint32_t*>(instruction.arrivals), end, counter) == end ||
        instruction.arrival_count == program::kMaxArrivals)
      continue;
    instruction.arrivals[instruction.arrival_count++] = counter;
    return true;
  }
  return false;
}

/// A value is born into the storage of one that is written by an earlier node and read by a later one.
bool share_storage(Program& program) {
  struct Life {
    std::size_t written = SIZE_MAX, read = 0;
  };
  std::vector<Life> lives(program.storages.size());
  for (std::size_t n = 0; n < program.records.size(); ++n) {
    const program::NodeRecord& record = program.records[n];
    for (int k = 0; k < record.operand_count; ++k) {
      Life& life = lives[record.operands[k].storage];
      if (k < record.operand_count - record.output_count)
        life.read = n;
      else
        life.written = std::min(life.written, n);
    }
  }
  for (std::uint32_t a = 0; a < lives.size(); ++a) {
    for (std::uint32_t b = 0; b < lives.size(); ++b) {
      const program::Storage &first = program.storages[a], &second = program.storages[b];
      if (first.kind != program::StorageKind::workspace || second.kind != program::StorageKind::workspace) continue;
      if (first.bytes != second.bytes || lives[a].written >= lives[b].written || lives[a].read <= lives[b].written + 1)
        continue;
      for (program::NodeRecord& record : program.records)
        for (int k = 0; k < record.operand_count; ++k)
          if (record.operands[k].storage == b) record.operands[k].storage = a;
      for (program::TensorMapDescription& map : program.maps)
        if (map.storage == b) map.storage = a;
      return true;
    }
  }
  return false;
}

bool drop_arrival(Program& program) {
  for (Instruction& instruction : program.instructions) {
    if (instruction.arrival_count == 0 || instruction.icode == 0) continue;
    remove_arrival(instruction, 0);
    return true;
  }
  return false;
}

}  // namespace

bool plant(Program& program, ProgramFault fault) {
  auto any = [](const Instruction&, int) { return true; };
  switch (fault) {
    case ProgramFault::none:
      return true;
    case ProgramFault::wait_dropped:
      return at_first_wait(program, is_read, remove_wait);
    case ProgramFault::reuse_wait_dropped:
      return at_first_wait(program, is_write, remove_wait);
    case ProgramFault::last_producer_forgotten:
      return forget_last_producer(program);
    case ProgramFault::wait_target_swapped:
      return swap_target(program);
    case ProgramFault::needed_too_few:
      return at_first_wait(program, several, [](Instruction& i, int w) { --i.waits[w].needed; });
    case ProgramFault::needed_too_many:
      return at_first_wait(program, any, [](Instruction& i, int w) { ++i.waits[w].needed; });
    case ProgramFault::arrival_dropped:
      return drop_arrival(program);
    case ProgramFault::arrival_doubled:
      return double_arrival(program);
    case ProgramFault::guard_of_other_operand:
      return at_first_wait(program, is_read, [](Instruction& i, int w) { guard(i, w) = program::kGuardWrite; });
    case ProgramFault::wait_for_later:
      return wait_for_later(program);
    case ProgramFault::ticket_order:
      return program.config.queue == program::QueueMode::global && wait_for_later(program);
    case ProgramFault::page_map_of_one_cta:
      return spoil_page_map(program, false);
    case ProgramFault::page_released_twice:
      return spoil_page_map(program, true);
    case ProgramFault::storage_shared:
      return share_storage(program);
    case ProgramFault::waits_too_many:
      return at_first_wait(program, any, [](Instruction& i, int) { i.wait_count = program::kMaxWaits + 1; });
  }
  return false;
}

}  // namespace megakittens::emulator
