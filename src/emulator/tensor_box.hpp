// The box of a tensor map at given coordinates, row by row: where each row lies in global memory and in the box.
#pragma once

#include <cstdint>

#include "device/tensor_map_fields.hpp"

namespace megakittens::emulator {

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
  /// What a store or a reduction writes of it: whole 16-byte pieces, also over the tensor's end (the twin tests found
  /// it on an H200).
  Row written_row(std::uint32_t number) const;
};

/// Why the hardware would refuse this map, or null.
const char* fault_of(const device::TensorMapFields& map);

}  // namespace megakittens::emulator
