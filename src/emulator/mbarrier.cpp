#include "emulator/mbarrier.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/host/hooks.hpp"
#include "emulator/machine.hpp"
#include "emulator/shared_memory.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kMostArrivals = (1u << 20) - 1;
constexpr std::int64_t kMostTransactions = (1 << 20) - 1;

std::string place(const Mbarrier& barrier) {
  return barrier.cta->shared_region->place(barrier.offset);
}

void misuse(Machine& machine, const Mbarrier& barrier, const std::string& what) {
  machine.add_finding(Rule::kBarrierMisuse, std::hash<std::string>{}(what.substr(0, 20)) / 128,
                      fmt::format("  {}: mbarrier {}", what, place(barrier)));
}

void complete_phase_if_due(Machine& machine, Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.transactions != 0) return;
  barrier.phases++;
  barrier.pending = barrier.count;
  if (machine.checker() != nullptr) {
    // Arrivals form one release sequence: a waiter acquires the releases of every phase up to this one.
    barrier.pending_view.local.raise(barrier.component, barrier.first_tick + barrier.phases);
    barrier.done_view = barrier.pending_view;
    barrier.done_cluster = barrier.pending_cluster;
  }
  machine.wake_all(barrier.waiters);
}

void arrive(Machine& machine, Mbarrier& barrier, std::uint32_t count, const Warp& issuer) {
  barrier.last_toucher = issuer.context;
  if (count > barrier.pending) {
    misuse(machine, barrier,
           fmt::format("too many arrivals: {} arrives {} times where the phase lacks {} of {}",
                       machine.describe(issuer), count, barrier.pending, barrier.count));
    count = barrier.pending;
  }
  barrier.pending -= count;
  complete_phase_if_due(machine, barrier);
}

void expect(Machine& machine, Mbarrier& barrier, std::uint32_t bytes, const Warp& issuer) {
  barrier.transactions += bytes;
  if (barrier.transactions > kMostTransactions) {
    misuse(machine, barrier, fmt::format("more than 2^20-1 bytes expected by {}", machine.describe(issuer)));
  }
}

// Row 14: the init must happen before every use, and be visible to it.
void check_published(Machine& machine, const Mbarrier& barrier, const Warp& user, bool async, const char* what) {
  Checker* checker = machine.checker();
  if (checker == nullptr) return;
  const std::uint16_t owner = static_cast<std::uint16_t>(barrier.cta->index);
  const bool known = checker->knows(user.view, static_cast<std::uint16_t>(user.cta->index), owner, barrier.init_warp,
                                    barrier.init_tick);
  const bool fence_needed = async || user.cta != barrier.cta;
  if (known && (barrier.init_fenced || !fence_needed)) return;
  machine.add_finding(Rule::kBarrierNotPublished, known ? 1 : 2,
                      fmt::format("  {} by {} on mbarrier {}, initialised by {}; {}", what, machine.describe(user),
                                  place(barrier), checker->describe(barrier.init_context),
                                  known ? "fence.mbarrier_init is missing" : "nothing orders the two"));
}

Mbarrier* object_at(Cta& cta, std::uint32_t offset) {
  const std::uint16_t number = cta.mbarrier_at[offset / 8];
  return number == 0 ? nullptr : cta.mbarriers[number - 1].get();
}

void report_lapped(Machine& machine, const Mbarrier& barrier, const Warp& warp, std::int64_t meant,
                   std::uint32_t parity) {
  machine.add_finding(
      Rule::kLappedWaiter, barrier.offset,
      fmt::format("  {} waits for phase {} (parity {}) of mbarrier {}, which has completed phase {}",
                  machine.describe(warp), meant, parity, place(barrier), std::int64_t{barrier.phases} - 1));
}

// The warp named the phase it waits for: passing before that phase, or after the next one, is the ambiguity of parity.
void check_meant(Machine& machine, const Mbarrier& barrier, const Warp& warp) {
  if (barrier.phases != warp.meant_phase + 1)
    report_lapped(machine, barrier, warp, static_cast<std::int32_t>(warp.meant_phase), warp.meant_phase & 1);
}

// The warp waited for one phase by its parity; two may have passed (it knows from others how far the object was).
void check_lapped(Machine& machine, Mbarrier& barrier, Warp& warp, std::uint32_t parity) {
  if (warp.phase_meant) {
    warp.phase_meant = false;
    return check_meant(machine, barrier, warp);
  }
  if (machine.checker() == nullptr || warp.cta != barrier.cta) return;
  const std::uint32_t known = warp.view.local.get(barrier.component);
  if (known < barrier.first_tick) return;
  const std::int64_t known_phases = known - barrier.first_tick;
  // The phase meant: the last one the warp knows to be complete if that has the parity, else the next.
  std::int64_t meant = known_phases - 1;
  if ((meant & 1) != static_cast<std::int64_t>(parity)) meant++;
  const std::int64_t seen = std::int64_t{barrier.phases} - 1;
  if (seen >= meant + 2) report_lapped(machine, barrier, warp, meant, parity);
}

}  // namespace

Mbarrier* find_barrier(Machine& machine, Cta& cta, std::uint32_t offset, const char* what, const Warp& issuer) {
  if (offset % 8 != 0) {
    machine.add_finding(
        Rule::kBadOperand, offset,
        fmt::format("  {} of {}: mbarrier at {:#x} is not 8-byte aligned", what, machine.describe(issuer), offset));
    return nullptr;
  }
  Mbarrier* barrier = object_at(cta, offset);
  if (barrier != nullptr && barrier->live) return barrier;
  machine.add_finding(Rule::kBarrierMisuse, offset,
                      fmt::format("  {} of {} on {}, where no mbarrier is initialised", what, machine.describe(issuer),
                                  cta.shared_region->place(offset)));
  return nullptr;
}

void complete_transaction(Machine& machine, Mbarrier& barrier, std::uint32_t bytes, const Warp& issuer) {
  barrier.transactions -= bytes;
  barrier.last_toucher = issuer.context;
  if (barrier.transactions < -kMostTransactions) {
    misuse(
        machine, barrier,
        fmt::format("transaction underflow: copies of {} bring bytes that nobody expects", machine.describe(issuer)));
  }
  check_published(machine, barrier, issuer, true, "complete_tx of a copy issued");
  complete_phase_if_due(machine, barrier);
}

void arrive_from_agent(Machine& machine, Mbarrier& barrier, const View* view, const Foreign& foreign,
                       const Warp& issuer) {
  if (view != nullptr) barrier.pending_view.join(*view);
  barrier.pending_cluster = join(barrier.pending_cluster, foreign);
  check_published(machine, barrier, issuer, true, "commit issued");
  arrive(machine, barrier, 1, issuer);
}

}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void mbarrier_init(std::uint32_t address, std::uint32_t count) {
  Machine& machine = Machine::current();
  SharedPlace at = resolve_shared(machine, address, 8, "mbarrier.init");
  if (!at || at.offset % 8 != 0) return;
  Cta& cta = *at.cta;
  Warp& warp = machine.warp();
  std::uint16_t& number = cta.mbarrier_at[at.offset / 8];
  if (number == 0) {
    cta.mbarriers.push_back(std::make_unique<Mbarrier>());
    number = static_cast<std::uint16_t>(cta.mbarriers.size());
    cta.mbarriers.back()->cta = &cta;
    cta.mbarriers.back()->offset = at.offset;
    cta.mbarriers.back()->component = cta.components++;
  }
  Mbarrier& barrier = *cta.mbarriers[number - 1];
  if (barrier.live) misuse(machine, barrier, fmt::format("init over a live object by {}", machine.describe(warp)));
  if (count == 0 || count > kMostArrivals) misuse(machine, barrier, fmt::format("init with a count of {}", count));
  barrier.first_tick += barrier.phases;
  barrier.live = true;
  barrier.count = barrier.pending = count;
  barrier.transactions = 0;
  barrier.phases = 0;
  barrier.init_context = warp.context;
  barrier.init_warp = component::kWarp + warp.index;
  barrier.init_tick = warp.view.local.get(barrier.init_warp);
  barrier.init_fenced = false;
  barrier.last_toucher = warp.context;
  if (Checker* checker = machine.checker()) {
    warp.view.local.raise(barrier.component, barrier.first_tick);
    checker->mark_barrier(*cta.shared_region, at.offset, true);
  }
  machine.step();
}

void mbarrier_inval(std::uint32_t address) {
  Machine& machine = Machine::current();
  SharedPlace at = resolve_shared(machine, address, 8, "mbarrier.inval");
  if (!at) return;
  Mbarrier* barrier = find_barrier(machine, *at.cta, at.offset, "mbarrier.inval", machine.warp());
  if (barrier == nullptr) return;
  check_published(machine, *barrier, machine.warp(), false, "mbarrier.inval");
  const bool busy = barrier->pending != barrier->count || barrier->transactions != 0 ||
                    std::ranges::any_of(barrier->waiters, &Waiter::waits);
  if (busy)
    misuse(machine, *barrier,
           fmt::format("inval while a phase is under way or waited for, by {}", machine.describe(machine.warp())));
  barrier->live = false;
  if (Checker* checker = machine.checker()) checker->mark_barrier(*at.cta->shared_region, at.offset, false);
  machine.step();
}

void mbarrier_arrive(std::uint32_t address, std::uint32_t count, std::uint32_t expected_bytes, Scope scope) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (scope == Scope::kCluster && machine.fault(FaultPoint::kRemoteArrive, address)) scope = Scope::kCta;
  if (machine.fault(FaultPoint::kMbarrierArrive, address)) return;
  if (machine.fault(FaultPoint::kMbarrierArriveTwice, address)) count++;
  if (expected_bytes > 0 && machine.fault(FaultPoint::kMbarrierExpect, address)) expected_bytes /= 2;
  SharedPlace at = resolve_shared(machine, address, 8, "mbarrier.arrive");
  if (!at) return;
  Mbarrier* barrier = find_barrier(machine, *at.cta, at.offset, "mbarrier.arrive", warp);
  if (barrier == nullptr) return;
  check_published(machine, *barrier, warp, false, "mbarrier.arrive");
  if (Checker* checker = machine.checker()) {
    if (at.cta == warp.cta) {
      barrier->pending_view.join(warp.view);
      checker->tick(warp);
    } else if (scope == Scope::kCluster) {
      barrier->pending_cluster = join(barrier->pending_cluster, checker->publish(warp));
    }
  }
  if (expected_bytes > 0) expect(machine, *barrier, expected_bytes, warp);
  arrive(machine, *barrier, count, warp);
  machine.step();
}

void mbarrier_expect(std::uint32_t address, std::uint32_t bytes) {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kMbarrierExpect, address)) bytes /= 2;
  SharedPlace at = resolve_shared(machine, address, 8, "mbarrier.expect_tx");
  if (!at) return;
  Mbarrier* barrier = find_barrier(machine, *at.cta, at.offset, "mbarrier.expect_tx", machine.warp());
  if (barrier == nullptr) return;
  check_published(machine, *barrier, machine.warp(), false, "mbarrier.expect_tx");
  expect(machine, *barrier, bytes, machine.warp());
  machine.step();
}

bool mbarrier_wait(std::uint32_t address, std::uint32_t parity, Scope scope, bool may_suspend) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (machine.fault(FaultPoint::kMbarrierWait, address)) return true;
  if (scope == Scope::kCluster && machine.fault(FaultPoint::kRemoteWait, address)) scope = Scope::kCta;
  SharedPlace at = resolve_shared(machine, address, 8, "mbarrier.try_wait");
  if (!at) return true;
  if (at.cta != warp.cta) {
    machine.add_finding(Rule::kBarrierMisuse, 7,
                        fmt::format("  {} waits on an mbarrier of another CTA", machine.describe(warp)));
    return true;
  }
  Mbarrier* barrier = find_barrier(machine, *at.cta, at.offset, "mbarrier.try_wait", warp);
  if (barrier == nullptr) return true;
  check_published(machine, *barrier, warp, false, "mbarrier.try_wait");
  auto done = [&] { return (barrier->phases & 1) != (parity & 1); };
  const bool at_once = done();
  if (!at_once) {
    if (may_suspend && machine.config().spin) {
      machine.pause();
      if (!done()) return false;
    } else if (!may_suspend) {
      machine.look(barrier, at.offset, 8);
      if (!done()) return false;
    } else {
      const std::uint32_t before = barrier->phases;
      barrier->waiters.push_back(machine.waiter());
      machine.park({WaitKind::kMbarrier, barrier, parity, 0});
      if (!done()) {
        if (barrier->phases != before) report_lapped(machine, *barrier, warp, before, parity);
        return false;
      }
    }
  }
  check_lapped(machine, *barrier, warp, parity);
  if (Checker* checker = machine.checker()) {
    warp.view.join(barrier->done_view);
    if (scope == Scope::kCluster) checker->acquire(warp, barrier->done_cluster);
  }
  // A loop that waits for something else, too, may look at this barrier on every turn: that is no progress.
  if (at_once && !warp.looks.empty())
    machine.look(barrier, at.offset, 8, true);
  else
    machine.step();
  return true;
}

std::uint32_t map_address(std::uint32_t address, std::uint32_t rank) {
  return window_address(rank, address & ((1u << kRankShift) - 1));
}

void fence_mbarrier_init() {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kFenceMbarrierInit)) return;
  for (auto& barrier : machine.cta().mbarriers) {
    if (barrier->init_warp == component::kWarp + machine.warp().index) barrier->init_fenced = true;
  }
  machine.step();
}

}  // namespace megakittens::device::host
