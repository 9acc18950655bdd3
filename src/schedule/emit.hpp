// Phase 4: the program, from what the other phases decided.
#pragma once

#include "schedule/joins.hpp"

namespace megakittens::schedule {

/// Instructions with numbers, node records with storages, tensor maps (equal ones once), ports.
/// Throws CapacityError where more tensor maps are needed than a node record can number.
program::Program emit(const ir::Graph& graph, const ScheduleOptions& options, const Placement& placement,
                      const std::vector<NodeTiles>& tiles, StorageTable storages, const Stream& stream);

}  // namespace megakittens::schedule
