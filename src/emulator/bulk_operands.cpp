#include "emulator/bulk_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace megakittens::emulator {
namespace {

// Why the hardware would refuse this map, or null.
const char* fault_of(const device::TensorMapFields& map) {
  if (map.magic != device::kTensorMapMagic) return "the tensor map was never filled";
  if (map.rank < 1 || map.rank > device::kMaxTensorMapRank) return "the map's rank is not 1 to 5";
  if (map.base % 16 != 0) return "the map's base is not a multiple of 16";
  for (int d = 0; d < map.rank; d++) {
    if (map.box[d] < 1 || map.box[d] > 256) return "an extent of the box is not 1 to 256";
    if (d > 0 && map.strides[d - 1] % 16 != 0) return "a stride is not a multiple of 16 bytes";
    if (d > 0 && (map.element_strides[d] < 1 || map.element_strides[d] > 8)) return "an element stride is not 1 to 8";
  }
  const std::uint32_t row = map.box[0] * device::element_bytes(map.type);
  if (row % 16 != 0) return "the box's inner extent is not a multiple of 16 bytes";
  // The hardware lays the rows of a narrower box a whole span apart, and so writes beyond the box's size.
  if (map.swizzle != device::Swizzle::kNone && row != device::swizzle_row_bytes(map.swizzle)) {
    return "the box's inner extent is not the swizzle's span";
  }
  return nullptr;
}

}  // namespace

TensorBox::Row TensorBox::row(std::uint32_t number) const {
  Row out{map.base, 0, 0};
  for (int d = 1; d < map.rank; d++) {
    const std::uint32_t i = number % extent(d);
    number /= extent(d);
    const std::int64_t index = std::int64_t{at[d]} + std::int64_t{i} * map.element_strides[d];
    if (index < 0 || index >= static_cast<std::int64_t>(map.dim(d))) return out;
    out.address += static_cast<std::uint64_t>(index) * map.strides[d - 1];
  }
  const std::int64_t first = std::max<std::int64_t>(at[0], 0);
  const std::int64_t last =
      std::min<std::int64_t>(std::int64_t{at[0]} + map.box[0], static_cast<std::int64_t>(map.dim(0)));
  if (first >= last) return out;
  out.address += static_cast<std::uint64_t>(first) * element();
  out.skip = static_cast<std::uint32_t>(first - at[0]) * element();
  out.length = static_cast<std::uint32_t>(last - first) * element();
  return out;
}

TensorBox::Row TensorBox::written_row(std::uint32_t number) const {
  Row out = row(number);
  out.length = (out.length + 15) / 16 * 16;
  return out;
}

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
  // On an H200 this is an illegal instruction for every type, rank and box (found by the twin tests).
  if (box.at[0] * static_cast<std::int64_t>(device::element_bytes(box.map.type)) % 16 != 0) {
    bad_operand(machine, "bulk tensor copy", "the innermost coordinate is not a multiple of 16 bytes");
    return {};
  }
  return box;
}

bool check_box_address(Machine& machine, std::uint32_t address) {
  if (address % 128 != 0) bad_operand(machine, "bulk tensor copy", "the shared address is not a multiple of 128");
  return address % 128 == 0;
}

}  // namespace megakittens::emulator
