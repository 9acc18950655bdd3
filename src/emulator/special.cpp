// Special registers, clocks, fences, annotations: instructions that touch no memory.
#include <fmt/format.h>

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"
#include "emulator/machine.hpp"
#include "emulator/shared_memory.hpp"
#include "support/error.hpp"

namespace megakittens::device::host {
using namespace emulator;

std::uint32_t cta_index() {
  return Machine::current().cta().index;
}
std::uint32_t cta_count() {
  return Machine::current().config().grid;
}
std::uint32_t cluster_rank() {
  return Machine::current().cta().rank;
}
std::uint32_t cluster_size() {
  return Machine::current().config().cluster;
}
std::uint32_t warp_index() {
  return Machine::current().warp().index;
}
std::uint32_t shared_base() {
  return window_address(Machine::current().cta().rank, kReservedSharedBytes);
}
std::uint64_t clock_cycles() {
  return Machine::current().nanoseconds() * 2;
}
std::uint64_t clock_nanoseconds() {
  return Machine::current().nanoseconds();
}
void sleep_nanoseconds(std::uint32_t) {
  Machine::current().pause();
}

void trap() {
  throw ExecutionError("trap");
}

void fence_proxy_async(bool shared, bool global) {
  Machine& machine = Machine::current();
  // Each form is a fault point of its own, and all of them are one.
  const FaultPoint form = shared && !global ? FaultPoint::kFenceProxyAsyncShared : FaultPoint::kFenceProxyAsyncGlobal;
  if (machine.fault(FaultPoint::kFenceProxyAsync) || (shared != global && machine.fault(form))) return;
  if (Checker* checker = machine.checker()) checker->fence_async(machine.warp(), shared, global, single_lane_depth > 0);
  machine.step();
}

void fence_acquire_release(bool gpu) {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kFenceAcqRel) || !gpu) return;
  if (Checker* checker = machine.checker()) {
    Warp& warp = machine.warp();
    checker->acquire(warp, warp.relaxed_seen);
    warp.relaxed_seen = nullptr;
    warp.fence_release = checker->publish(warp);
  }
  machine.step();
}

void fence_proxy_tensormap(const void* const* maps, std::uint32_t count) {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kFenceTensorMap)) return;
  machine.cta().fenced_maps.insert(maps, maps + count);
  machine.step();
}
void require_one_lane(const char* instruction) {
  if (single_lane_depth > 0) return;
  Machine& machine = Machine::current();
  machine.add_finding(
      Rule::kBadOperand, reinterpret_cast<std::uintptr_t>(instruction),
      fmt::format("  {}: all lanes execute {}, which is for one lane", machine.describe(machine.warp()), instruction));
}

void require_whole_warp(const char* instruction) {
  if (single_lane_depth == 0) return;
  Machine& machine = Machine::current();
  machine.add_finding(Rule::kBadOperand, reinterpret_cast<std::uintptr_t>(instruction),
                      fmt::format("  {}: one lane executes {}, which is for the whole warp",
                                  machine.describe(machine.warp()), instruction));
}

void annotate(const char* role, std::int64_t instruction) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (warp.role == role && warp.instruction == instruction) return;
  warp.role = role;
  warp.instruction = instruction;
  machine.renew_context(warp);
}

void mean_phase(std::uint32_t phase) {
  Warp& warp = Machine::current().warp();
  warp.phase_meant = true;
  warp.meant_phase = phase;
}

void note_wait(const char* what, std::uint64_t target) {
  Warp& warp = Machine::current().warp();
  warp.wait_note = what;
  warp.wait_target = target;
}

void name_shared(std::uint32_t address, const char* name, std::int64_t index) {
  Machine& machine = Machine::current();
  SharedPlace at = resolve_shared(machine, address, 1, "name_shared");
  if (at) at.cta->shared_region->names[at.offset] = index < 0 ? std::string(name) : fmt::format("{}[{}]", name, index);
}

}  // namespace megakittens::device::host
