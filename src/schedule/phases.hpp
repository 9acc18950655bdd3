// Phases 2 to 4, and what they leave to each other. Phase 2: where each value lives. Storages of values that nobody
// reads any more are used again.
#pragma once

#include "schedule/footprint.hpp"
#include "schedule/place.hpp"

namespace megakittens::schedule {

/// Value `now` takes the storage that value `before` had; both are roots.
struct Reuse {
  ir::ValueId before = -1;
  ir::ValueId now = -1;
};

struct StorageTable {
  std::vector<program::Storage> storages;
  /// By value; versions of one tensor share their root's storage.
  std::vector<std::uint32_t> of_value;
  std::vector<Reuse> reuses;
};

/// Inputs first, in their order, then node outputs as they appear. An output takes the first free storage of its size
/// whose last user ends at least #SMs instructions before its node starts: the readers are a wave behind, so the wait
/// is nearly always over before it begins. Inputs, mutated tensors and graph outputs are never given back.
/// All lie on the device of the graph's tensors. Throws UnsupportedError naming two that lie on different ones.
StorageTable assign_storages(const ir::Graph& graph, const Placement& placement, const program::Config& config);

// Phase 3: which instructions wait for which others, as counters.

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

// Waits and arrivals that an instruction cannot hold are joined through noops; then every instruction has its final
// place.

/// The list of instructions as it will be emitted, with what each waits for and raises.
struct Stream {
  struct Item {
    std::uint32_t node = 0;
    std::int32_t instruction = -1;  // of the node; -1 for a noop
  };
  std::vector<Item> items;
  std::vector<std::uint32_t> node_first;  // where each node's instructions begin
  Dependencies dependencies;              // by position in `items`
};

/// Noops that gather waits stand before the node that waits, those that spread arrivals behind the node that arrives:
/// every wait still points to a lower number. Where nothing overflows, positions are those of the placement.
Stream join_overflows(const Placement& placement, Dependencies dependencies, std::uint32_t cluster);

// Phase 4: the program, from what the other phases decided.

/// Instructions with numbers, node records with storages, tensor maps (equal ones once), ports.
/// Throws CapacityError where more tensor maps are needed than a node record can number.
program::Program emit(const ir::Graph& graph, const ScheduleOptions& options, const Placement& placement,
                      const std::vector<NodeTiles>& tiles, StorageTable storages, const Stream& stream);

}  // namespace megakittens::schedule
