// What asynchronous agents do to mbarriers. The instructions' own entry points are in device/host/hooks.hpp.
#pragma once

#include "emulator/machine.hpp"

namespace megakittens::emulator {

/// The live object at an offset, or null with a finding that names `what` and the warp on whose behalf it was looked
/// for.
Mbarrier* find_barrier(Machine& machine, Cta& cta, std::uint32_t offset, const char* what, const Warp& issuer);
/// complete_tx: `bytes` of a copy have arrived.
void complete_transaction(Machine& machine, Mbarrier& barrier, std::uint32_t bytes, const Warp& issuer);
/// An arrival that brings `view`, by an agent (a commit). Across CTAs it brings `foreign` instead.
void arrive_from_agent(Machine& machine, Mbarrier& barrier, const View* view, const Foreign& foreign,
                       const Warp& issuer);
/// The tick that waiters of the current phase will know.
inline std::uint32_t current_tick(const Mbarrier& barrier) {
  return barrier.first_tick + barrier.phases + 1;
}

}  // namespace megakittens::emulator
