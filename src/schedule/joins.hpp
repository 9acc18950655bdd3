// Waits and arrivals that an instruction cannot hold are joined through noops; then every instruction has its final
// place.
#pragma once

#include "schedule/barriers.hpp"

namespace megakittens::schedule {

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

}  // namespace megakittens::schedule
