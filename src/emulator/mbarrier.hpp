// mbarrier objects: real parity, pending count and signed transaction count, and a ghost phase number beside them.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/checker/view.hpp"
#include "emulator/polls.hpp"

namespace megakittens::emulator {

struct Warp;
struct Cta;
class Machine;

struct Mbarrier {
  Cta* cta = nullptr;
  std::uint32_t offset = 0;     // in the CTA's shared window
  std::uint32_t component = 0;  // of the CTA's clock; its ticks are completed phases over all lives of the object
  bool live = false;
  std::uint32_t count = 0;        // arrivals a phase expects
  std::uint32_t pending = 0;      // arrivals the current phase still lacks
  std::int64_t transactions = 0;  // bytes expected minus bytes arrived, of the current phase
  std::uint32_t phases = 0;       // completed since init: bit 0 is what parity sees
  std::uint32_t first_tick = 0;   // phases completed in earlier lives
  std::vector<Waiter> waiters;

  // The checker's part: what arrivals of the current phase release, and what a waiter for the last one acquires.
  View pending_view, done_view;
  Foreign pending_cluster, done_cluster;  // released at cluster scope by other CTAs (row 16)
  std::uint32_t init_context = 0, init_tick = 0, init_warp = 0;
  bool init_fenced = false;
  std::uint32_t last_toucher = 0;  // context of the last arrival
  const char* name = nullptr;
};

// Operations of asynchronous agents on mbarriers; the entry points of instructions are in device/host/hooks.hpp.

/// The live object at an offset, or null with a finding that names `what` and the issuer.
Mbarrier* find_barrier(Machine& machine, Cta& cta, std::uint32_t offset, const char* what, const Warp& issuer);
/// complete_tx: `bytes` of a copy have arrived.
void complete_transaction(Machine& machine, Mbarrier& barrier, std::uint32_t bytes, const Warp& issuer);
/// An arrival by an agent (a commit) that releases `view`; across CTAs it releases `foreign` instead.
void arrive_from_agent(Machine& machine, Mbarrier& barrier, const View* view, const Foreign& foreign,
                       const Warp& issuer);
/// The tick that a waiter knows once the current phase completes.
inline std::uint32_t current_tick(const Mbarrier& barrier) {
  return barrier.first_tick + barrier.phases + 1;
}

}  // namespace megakittens::emulator
