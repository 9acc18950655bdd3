// Phase 3: which instructions wait for which others, as counters.
#pragma once

#include "schedule/footprint.hpp"
#include "schedule/storages.hpp"

namespace megakittens::schedule {

struct GuardedWait {
  std::uint32_t counter = 0;
  std::uint32_t guard = 0;  // program::guard_bit of the operands it holds back, or kGuardWrite
  bool operator==(const GuardedWait&) const = default;
};

/// Waits and arrivals of every place of the placement (padding has none): those of place p are [first[p], first[p +
/// 1]).
struct Dependencies {
  std::vector<program::Counter> counters;
  std::vector<std::uint32_t> wait_first;
  std::vector<GuardedWait> waits;
  std::vector<std::uint32_t> arrival_first;
  std::vector<std::uint32_t> arrivals;
};

/// For each instruction and operand, the instructions that wrote what it reads; for an instruction that writes into an
/// existing tensor, also those that read or wrote these elements before; for one whose storage had another value, every
/// reader of that value. Equal sets share a counter; numbers run over nodes, operands, instructions at first sight,
/// then over reuses. No instruction waits for one with a higher number. Throws UnsupportedError where a node overwrites
/// elements that other instructions of it read.
Dependencies connect(const ir::Graph& graph, const Placement& placement, const std::vector<NodeTiles>& tiles,
                     const StorageTable& storages);

}  // namespace megakittens::schedule
