// Operands of bulk copies in both directions: the box of a tensor map, and the checks of both.
#pragma once

#include <optional>

#include "device/tensor_map_fields.hpp"
#include "emulator/machine.hpp"

namespace megakittens::emulator {

/// The box of a tensor map at given coordinates, row by row: where each row lies in global memory and in the box.
struct TensorBox {
  device::TensorMapFields map;
  std::int32_t at[device::kMaxTensorMapRank] = {};

  std::uint32_t element() const { return device::element_bytes(map.type); }
  std::uint32_t row_bytes() const { return map.box[0] * element(); }
  std::uint32_t extent(int d) const {  // elements of the box in dimension d
    if (d >= map.rank) return 1;
    return d == 0 ? map.box[0] : (map.box[d] + map.element_strides[d] - 1u) / map.element_strides[d];
  }
  std::uint32_t rows() const { return extent(1) * extent(2) * extent(3) * extent(4); }
  std::uint32_t bytes() const { return rows() * row_bytes(); }

  struct Row {
    std::uint64_t address;  // global address of the first element inside the tensor
    std::uint32_t skip;     // bytes of the row before it that lie outside
    std::uint32_t length;   // bytes inside; 0: the whole row lies outside
  };
  Row row(std::uint32_t number) const;
  /// What a store or a reduction writes: whole 16-byte pieces, even past the tensor's end (found by the twin tests on
  /// an H200).
  Row written_row(std::uint32_t number) const;
};

void bad_operand(Machine& machine, const char* operation, const char* what);
/// Addresses and size are multiples of 16.
bool check_bulk_operands(Machine& machine, const char* operation, std::uint64_t global, std::uint32_t shared,
                         std::uint32_t bytes);
/// Reads the map as the hardware does at issue; empty, with a finding, where the hardware would refuse it.
std::optional<TensorBox> box_operand(Machine& machine, const void* map, const std::int32_t* at, int rank);
/// The box's place in shared memory is 128-byte aligned. A swizzle's pattern follows address bits, so that a box may
/// start inside an atom.
bool check_box_address(Machine& machine, std::uint32_t address);

}  // namespace megakittens::emulator
