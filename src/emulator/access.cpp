// Ordinary and strong accesses of warps to shared and global memory.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"
#include "emulator/machine.hpp"
#include "emulator/shared_memory.hpp"

namespace megakittens::emulator {
namespace {

using device::host::kLanes;
using device::host::Space;

// Where a run of bytes lies: host memory and the region that shadows it.
struct Target {
  std::byte* data = nullptr;
  Region* region = nullptr;
  std::uint64_t offset = 0;
};

Target find_target(Machine& machine, Space space, std::uint64_t address, std::uint64_t bytes, const char* what,
                   bool write) {
  if (space == Space::kShared) {
    SharedPlace at = resolve_shared(machine, static_cast<std::uint32_t>(address), bytes, what);
    if (!at) return {};
    return {at.data(), at.cta->shared_region.get(), at.offset};
  }
  GlobalMemory::Buffer* buffer = machine.global().find(address, bytes);
  if (buffer == nullptr || (write && buffer->region->read_only)) {
    machine.add_finding(Rule::kOutOfBounds, machine.warp().index + (write ? 64u : 0u),
                        fmt::format("  {} of {} {} {} bytes at {}{}", what, machine.describe(machine.warp()),
                                    write ? "writes" : "reads", bytes, machine.global().place(address),
                                    buffer != nullptr ? ", which is read-only" : ""));
    return {};
  }
  return {reinterpret_cast<std::byte*>(address), buffer->region.get(), address - buffer->base};
}

// Calls f(first lane, number of lanes) for runs of lanes whose addresses follow each other.
template <class F>
void for_runs(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, F f) {
  std::uint32_t lane = 0;
  while (lane < kLanes) {
    if ((lanes >> lane & 1) == 0) {
      lane++;
      continue;
    }
    std::uint32_t count = 1;
    while (lane + count < kLanes && (lanes >> (lane + count) & 1) != 0 &&
           address[lane + count] == address[lane] + std::uint64_t{count} * bytes) {
      count++;
    }
    f(lane, count);
    lane += count;
  }
}

void check_alignment(Machine& machine, std::uint64_t address, std::uint32_t bytes, const char* what) {
  if (address % bytes == 0) return;
  machine.add_finding(Rule::kBadOperand, bytes,
                      fmt::format("  {} of {}: address {:#x} is not a multiple of {}", what,
                                  machine.describe(machine.warp()), address, bytes));
}

void read(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, std::byte* data,
          Operation operation, const char* what) {
  Machine& machine = Machine::current();
  for_runs(address, lanes, bytes, [&](std::uint32_t lane, std::uint32_t count) {
    check_alignment(machine, address[lane], bytes, what);
    std::uint64_t length = std::uint64_t{count} * bytes;
    Target target = find_target(machine, space, address[lane], length, what, false);
    if (target.data == nullptr) {
      std::memset(data + lane * bytes, 0, length);
      return;
    }
    std::memcpy(data + lane * bytes, target.data, length);
    if (Checker* checker = machine.checker()) {
      checker->access(*target.region, target.offset, length, checker->ordinary(machine.warp(), operation, false));
      if (checker->strict() && space == Space::kShared && device::single_lane_depth == 0)
        machine.warp().wide_since_fence = true;
    }
  });
}

void write(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const std::byte* data,
           Operation operation, const char* what) {
  Machine& machine = Machine::current();
  for_runs(address, lanes, bytes, [&](std::uint32_t lane, std::uint32_t count) {
    check_alignment(machine, address[lane], bytes, what);
    std::uint64_t length = std::uint64_t{count} * bytes;
    Target target = find_target(machine, space, address[lane], length, what, true);
    if (target.data == nullptr) return;
    std::memcpy(target.data, data + lane * bytes, length);
    if (Checker* checker = machine.checker()) {
      checker->access(*target.region, target.offset, length, checker->ordinary(machine.warp(), operation, true));
    }
    if (space == Space::kGlobal) {
      machine.written(address[lane], length);
    } else if (device::single_lane_depth == 0) {
      machine.warp().wide_since_fence = true;
    }
  });
}

// Row 25: registers that products or tcgen05.ld have yet to write hold poison. Storing it shows that they were read.
void check_in_flight(Machine& machine, const std::byte* data, std::uint32_t lanes, std::uint32_t bytes) {
  const Warp& warp = machine.warp();
  if ((warp.accumulators_in_flight == 0 && warp.tensor_transfers.empty()) || bytes < 4) return;
  for (std::uint32_t i = 0; i < kLanes * bytes; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, data + i, 4);
    if ((lanes >> (i / bytes) & 1) == 0 || word != kRegisterPoison) continue;
    machine.add_finding(Rule::kAccumulatorInFlight, 5,
                        fmt::format("  {} stores registers that are still in flight", machine.describe(warp)));
    return;
  }
}

bool acquires(device::host::Order order) {
  return order == device::host::Order::kAcquire || order == device::host::Order::kAcquireRelease;
}
bool releases(device::host::Order order) {
  return order == device::host::Order::kRelease || order == device::host::Order::kAcquireRelease;
}

// A strong load learns what the writes it may have seen released; a relaxed one keeps it for a later fence.
void learn(Machine& machine, std::uint64_t address, bool acquire) {
  Checker* checker = machine.checker();
  if (checker == nullptr) return;
  const auto word = machine.sync_words().find(address);
  if (word == machine.sync_words().end() || word->second.released == nullptr) return;
  const Foreign& released = word->second.released;
  Warp& warp = machine.warp();
  if (acquire) {
    checker->acquire(warp, released);
  } else {
    warp.relaxed_seen = join(warp.relaxed_seen, released);
  }
}

// For planted faults: what a load of one word finds instead.
void answer(std::uint64_t value, std::uint32_t lanes, void* data) {
  for (std::uint32_t lane = 0; lane < kLanes; lane++) {
    if ((lanes >> lane & 1) != 0) static_cast<std::uint32_t*>(data)[lane] = static_cast<std::uint32_t>(value);
  }
}
bool goes_past(const void* data, std::uint64_t target) {
  std::uint32_t value;
  std::memcpy(&value, data, sizeof(value));
  return static_cast<std::int32_t>(value - static_cast<std::uint32_t>(target)) > 0;
}

void teach(Machine& machine, std::uint64_t address, bool release, bool keeps_others) {
  SyncWord& word = machine.sync_words()[address];
  word.last_toucher = machine.context();
  Checker* checker = machine.checker();
  if (checker == nullptr) return;
  if (!keeps_others) word.released = nullptr;  // a plain overwrite ends the release sequence; an atomic continues it
  word.released = join(word.released, release ? checker->publish(machine.warp()) : machine.warp().fence_release);
}

}  // namespace
}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void load(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data) {
  read(space, address, lanes, bytes, static_cast<std::byte*>(data), Operation::kLoad,
       space == Space::kShared ? "ld.shared" : "ld.global");
}

void store(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data) {
  if (lanes != 1) check_in_flight(Machine::current(), static_cast<const std::byte*>(data), lanes, bytes);
  write(space, address, lanes, bytes, static_cast<const std::byte*>(data), Operation::kStore,
        space == Space::kShared ? "st.shared" : "st.global");
}

void load_constant(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data) {
  read(Space::kGlobal, address, lanes, bytes, static_cast<std::byte*>(data), Operation::kConstantLoad, "ld.global.nc");
}

void load_strong(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data, Order order) {
  Machine& machine = Machine::current();
  const bool acquire = acquires(order) && !machine.fault(FaultPoint::kAcquire);
  std::uint64_t low = ~std::uint64_t{0}, high = 0;
  for (std::uint32_t lane = 0; lane < kLanes; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane] + bytes);
  }
  if (high == 0) return;
  const bool waits = acquires(order) && machine.warp().wait_note != nullptr && bytes == 4;
  if (waits && machine.fault(FaultPoint::kCounterWait)) return answer(machine.warp().wait_target, lanes, data);
  machine.look(nullptr, low, high - low);
  read(Space::kGlobal, address, lanes, bytes, static_cast<std::byte*>(data), Operation::kAtomic,
       "ld.relaxed or ld.acquire");
  if (waits && goes_past(data, machine.warp().wait_target) && machine.fault(FaultPoint::kCounterEquality))
    return answer(machine.warp().wait_target - 1, lanes, data);
  if (machine.checker() == nullptr) return;
  for (std::uint32_t lane = 0; lane < kLanes; lane++) {
    if ((lanes >> lane & 1) != 0) learn(machine, address[lane], acquire);
  }
}

void store_strong(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data,
                  Order order) {
  Machine& machine = Machine::current();
  const bool release = releases(order) && !machine.fault(FaultPoint::kRelease);
  write(Space::kGlobal, address, lanes, bytes, static_cast<const std::byte*>(data), Operation::kAtomic,
        "st.relaxed or st.release");
  for (std::uint32_t lane = 0; lane < kLanes; lane++) {
    if ((lanes >> lane & 1) == 0) continue;
    const bool matters =
        release || machine.warp().fence_release != nullptr || machine.sync_words().find(address[lane]) != nullptr;
    if (matters) teach(machine, address[lane], release, false);
  }
  machine.step();
}

std::uint32_t read_modify_write(std::uint32_t* word, Rmw operation, std::uint32_t operand, std::uint32_t expected,
                                Order order, bool returns) {
  Machine& machine = Machine::current();
  const bool release = releases(order) && !machine.fault(FaultPoint::kRelease);
  const bool acquire = acquires(order) && !machine.fault(FaultPoint::kAcquire);
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(word);
  std::uint32_t before = 0;
  read(Space::kGlobal, &address, 1, 4, reinterpret_cast<std::byte*>(&before), Operation::kAtomic, "atom or red");
  if (returns) learn(machine, address, acquire);  // red reads nothing that an acquire could build on
  const bool writes = operation == Rmw::kAdd || before == expected;
  const std::uint32_t after = operation == Rmw::kAdd ? before + operand : operand;
  if (writes) {
    write(Space::kGlobal, &address, 1, 4, reinterpret_cast<const std::byte*>(&after), Operation::kAtomic,
          "atom or red");
    teach(machine, address, release, true);
  }
  machine.step();
  return before;
}

}  // namespace megakittens::device::host
