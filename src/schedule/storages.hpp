// Phase 2: where each value lives. Storages of values that nobody reads any more are used again.
#pragma once

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

}  // namespace megakittens::schedule
