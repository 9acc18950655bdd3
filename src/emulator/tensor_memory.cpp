#include "emulator/tensor_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace megakittens::emulator {
TensorMemory::TensorMemory(std::uint32_t cta) : cta_(cta) {}

std::vector<std::uint32_t>& TensorMemory::words() {
  if (words_.empty()) words_.assign(kTensorLanes * kTensorColumns, kRegisterPoison);
  return words_;
}

void TensorMemory::access(Checker& checker, std::uint32_t quarter, std::uint32_t column, std::uint32_t columns,
                          const Access& access) {
  // One cell for 32 lanes of one column: finer than any instruction here works.
  constexpr std::uint64_t kBytes = std::uint64_t{4} * kTensorColumns * kCellBytes;
  if (region_ == nullptr) {
    region_ = std::make_unique<Region>(Region{Space::kTensor, static_cast<std::uint16_t>(cta_), false,
                                              fmt::format("tensor memory of CTA {}", cta_), kBytes,
                                              ShadowMemory(kBytes, false)});
  }
  checker.begin(access);
  for (std::uint32_t c = column; c < column + columns; c++) {
    checker.access_cell(*region_, (std::uint64_t{quarter} * kTensorColumns + c) * kCellBytes, access);
  }
}

int TensorMemory::allocate(std::uint32_t columns) {
  const std::uint32_t units = columns / kAllocationUnit;
  for (std::uint32_t first = 0; first + units <= used_.size(); first += units) {
    if (allocated_in(first, units)) continue;
    used_[first] = static_cast<std::uint8_t>(units);
    return static_cast<int>(first * kAllocationUnit);
  }
  return -1;
}

bool TensorMemory::allocated_in(std::uint32_t first, std::uint32_t units) const {
  for (std::uint32_t i = 0; i < used_.size(); i++) {
    if (used_[i] > 0 && i < first + units && first < i + used_[i]) return true;
  }
  return false;
}

bool TensorMemory::release(std::uint32_t column, std::uint32_t columns) {
  const std::uint32_t first = column / kAllocationUnit;
  if (column % kAllocationUnit != 0 || first >= used_.size() || used_[first] * kAllocationUnit != columns) return false;
  used_[first] = 0;
  return true;
}

bool TensorMemory::allocated(std::uint32_t column, std::uint32_t columns) const {
  for (std::uint32_t i = 0; i < used_.size(); i++) {
    const std::uint32_t begin = i * kAllocationUnit;
    if (used_[i] > 0 && column >= begin && column + columns <= begin + used_[i] * kAllocationUnit) return true;
  }
  return false;
}

bool TensorMemory::any_allocated() const {
  return std::any_of(used_.begin(), used_.end(), [](std::uint8_t units) { return units > 0; });
}

}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

namespace {

void misuse(Machine& machine, std::uint64_t likeness, const std::string& what) {
  machine.add_finding(Rule::kTensorMemoryMisuse, likeness,
                      fmt::format("  {}: {}", machine.describe(machine.warp()), what));
}

}  // namespace

void tensor_alloc(int, std::uint32_t destination, std::uint32_t columns) {
  Machine& machine = Machine::current();
  TensorMemory& memory = *machine.cta().tensor_memory;
  if (columns < 32 || columns > kTensorColumns || (columns & (columns - 1)) != 0) {
    return misuse(machine, 1, fmt::format("tcgen05.alloc of {} columns", columns));
  }
  if (memory.relinquished) misuse(machine, 2, "tcgen05.alloc after relinquish_alloc_permit");
  int column = memory.allocate(columns);
  while (column < 0) {
    memory.waiters.push_back(machine.waiter());
    machine.park({WaitKind::kTensorMemory, nullptr, columns, 1});
    column = memory.allocate(columns);
  }
  const std::uint32_t word = static_cast<std::uint32_t>(column);
  const std::uint64_t address = destination;
  store(Space::kShared, &address, 1, 4, &word);
  machine.step();
}

void tensor_dealloc(int, std::uint32_t address, std::uint32_t columns) {
  Machine& machine = Machine::current();
  TensorMemory& memory = *machine.cta().tensor_memory;
  if (!memory.release(address & 0xffff, columns))
    misuse(machine, 3, "tcgen05.dealloc of columns that were not allocated so");
  machine.wake_all(memory.waiters);
  machine.step();
}

void tensor_relinquish(int) {
  Machine& machine = Machine::current();
  machine.cta().tensor_memory->relinquished = true;
  machine.step();
}

}  // namespace megakittens::device::host
