#include "emulator/bulk_operands.hpp"

#include <fmt/format.h>

#include <cstring>
#include <functional>

namespace megakittens::emulator {

void bad_operand(Machine& machine, const char* operation, const char* what) {
  machine.add_finding(Rule::kBadOperand, reinterpret_cast<std::uintptr_t>(what),
                      fmt::format("  {} of {}: {}", operation, machine.describe(machine.warp()), what));
}

bool check_bulk_operands(Machine& machine, const char* operation, std::uint64_t global, std::uint32_t shared,
                         std::uint32_t bytes) {
  if (global % 16 == 0 && shared % 16 == 0 && bytes % 16 == 0 && bytes > 0) return true;
  bad_operand(machine, operation, "addresses and size must be multiples of 16");
  return false;
}

std::optional<TensorBox> box_operand(Machine& machine, const void* map, const std::int32_t* at, int rank) {
  const std::uint64_t address = reinterpret_cast<std::uintptr_t>(map);
  if (address % 64 != 0) {
    bad_operand(machine, "bulk tensor copy", "the tensor map is not 64-byte aligned");
    return {};
  }
  if (machine.global().find(address, 128) != nullptr && !machine.cta().fenced_maps.contains(map)) {
    machine.add_finding(
        Rule::kTensorMapFence, 0,
        fmt::format("  map at {} used by {}", machine.global().place(address), machine.describe(machine.warp())));
  }
  TensorBox box;
  std::memcpy(&box.map, map, sizeof(box.map));
  const char* fault = fault_of(box.map);
  if (fault == nullptr && box.map.rank != rank) fault = "the instruction's rank is not the map's";
  if (fault != nullptr) {
    bad_operand(machine, "bulk tensor copy", fault);
    return {};
  }
  for (int d = 0; d < rank; d++) box.at[d] = at[d];
  // An illegal instruction on an H200, whatever the type, the rank and the box (the twin tests found it).
  if (box.at[0] * static_cast<std::int64_t>(device::element_bytes(box.map.type)) % 16 != 0) {
    bad_operand(machine, "bulk tensor copy", "the innermost coordinate is not a multiple of 16 bytes");
    return {};
  }
  return box;
}

bool check_box_address(Machine& machine, const TensorBox& box, std::uint32_t address) {
  if (address % 128 != 0) {
    bad_operand(machine, "bulk tensor copy", "the shared address is not a multiple of 128");
    return false;
  }
  // The pattern follows address bits, so that a tile that starts inside an atom is legal; its readers must agree.
  static_cast<void>(box);
  return true;
}

}  // namespace megakittens::emulator
