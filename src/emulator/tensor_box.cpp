#include "emulator/tensor_box.hpp"

#include <algorithm>

namespace megakittens::emulator {

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
  // Of a narrower box the hardware lays the rows a span apart, and writes past what the box's size says.
  if (map.swizzle != device::Swizzle::kNone && row != device::swizzle_row_bytes(map.swizzle)) {
    return "the box's inner extent is not the swizzle's span";
  }
  return nullptr;
}

}  // namespace megakittens::emulator
