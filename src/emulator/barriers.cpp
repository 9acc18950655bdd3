// Named barriers of a CTA and the barrier of a cluster.
#include <fmt/format.h>

#include "device/host/hooks.hpp"
#include "emulator/machine.hpp"

namespace megakittens::emulator {
namespace {

void misuse(Machine& machine, std::uint32_t barrier, const std::string& what) {
  machine.add_finding(Rule::kNamedBarrierMisuse, barrier,
                      fmt::format("  {}: {}", machine.describe(machine.warp()), what));
}

void complete(Machine& machine, NamedBarrier& barrier) {
  barrier.arrived = 0;
  barrier.expected = 0;
  barrier.generation++;
  if (machine.checker() != nullptr) barrier.done_view = barrier.pending_view;
  machine.wake_all(barrier.waiters);
}

}  // namespace
}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void named_barrier(std::uint32_t number, std::uint32_t threads, bool wait) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (threads == 0) threads = static_cast<std::uint32_t>(warp.cta->warps.size()) * kLanes;
  if (number >= 16 || threads % kLanes != 0 || threads > warp.cta->warps.size() * kLanes) {
    misuse(machine, number,
           fmt::format("named barrier {} with {} threads in a CTA of {}", number, threads,
                       warp.cta->warps.size() * kLanes));
    return;
  }
  NamedBarrier& barrier = warp.cta->named_barriers[number];
  if (barrier.expected != 0 && barrier.expected != threads) {
    misuse(machine, number,
           fmt::format("named barrier {} with {} threads while {} are expected", number, threads, barrier.expected));
  }
  barrier.expected = threads;
  barrier.arrived += kLanes;
  barrier.last_toucher = warp.context;
  if (Checker* checker = machine.checker()) {
    barrier.pending_view.join(warp.view);
    checker->tick(warp);
  }
  const std::uint64_t generation = barrier.generation;
  if (barrier.arrived >= barrier.expected) complete(machine, barrier);
  if (!wait || machine.fault(FaultPoint::kNamedBarrier)) {
    machine.step();
    return;
  }
  while (barrier.generation == generation) {
    barrier.waiters.push_back(machine.waiter());
    machine.park({WaitKind::kNamedBarrier, nullptr, number, 0});
  }
  if (machine.checker() != nullptr) warp.view.join(barrier.done_view);
  machine.step();
}

void cluster_barrier_arrive() {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  Cluster& cluster = *warp.cta->cluster;
  if (warp.cluster_arrived) misuse(machine, 16, "arrives twice at the cluster barrier without waiting");
  warp.cluster_arrived = true;
  warp.cluster_generation = cluster.generation;
  if (Checker* checker = machine.checker()) {
    warp.cta->cluster_pending.join(warp.view);
    cluster.pending = join(cluster.pending, checker->publish(warp));
  }
  std::uint32_t warps = 0;
  for (Cta* cta : cluster.ctas) warps += static_cast<std::uint32_t>(cta->warps.size());
  if (++cluster.arrived == warps) {
    cluster.arrived = 0;
    cluster.generation++;
    cluster.done = cluster.pending;
    for (Cta* cta : cluster.ctas) cta->cluster_done = cta->cluster_pending;
    machine.wake_all(cluster.waiters);
  }
  machine.step();
}

void cluster_barrier_wait() {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  Cluster& cluster = *warp.cta->cluster;
  if (!warp.cluster_arrived) {
    misuse(machine, 16, "waits at the cluster barrier without having arrived");
    return;
  }
  while (cluster.generation == warp.cluster_generation) {
    cluster.waiters.push_back(machine.waiter());
    machine.park({WaitKind::kClusterBarrier, nullptr, 0, 0});
  }
  warp.cluster_arrived = false;
  if (Checker* checker = machine.checker()) {
    warp.view.join(warp.cta->cluster_done);
    checker->acquire(warp, cluster.done);
  }
  machine.step();
}

}  // namespace megakittens::device::host
