// How a box of a tensor map, a matrix operand, and the code that writes either agree on where a byte lies: 16-byte
// chunks of a row are exchanged by a pattern that follows the row. PTX: "Swizzling modes" of the tensor data types.
#pragma once

#include "device/core/types.cuh"

namespace megakittens::device {

/// Numbers of CUtensorMapSwizzle. The name is the width of a row in bytes.
enum class Swizzle : uint8_t { kNone = 0, k32B = 1, k64B = 2, k128B = 3 };

/// Bytes of one row of the pattern; without a swizzle a row of a core matrix.
constexpr uint32_t swizzle_row_bytes(Swizzle swizzle) {
  return 16u << static_cast<uint32_t>(swizzle);
}

/// Bytes after which the pattern repeats; tiles start at multiples of it. Without a swizzle, one core matrix.
constexpr uint32_t swizzle_atom_bytes(Swizzle swizzle) {
  return 8 * swizzle_row_bytes(swizzle);
}

/// Where the byte at `address` of the unswizzled tile lies. Works on the address bits themselves: the chunk number
/// (bits 4 to 6) is combined with bits 7 to 9. T: uint32_t or Lanes<uint32_t>. Its own inverse.
template <Swizzle kSwizzle, class T>
constexpr T swizzle_address(T address) {
  constexpr uint32_t kChunks = ((1u << static_cast<uint32_t>(kSwizzle)) - 1) << 4;
  return address ^ ((address >> 3) & kChunks);
}

/// The same with the mode as data.
constexpr uint32_t swizzle_address(Swizzle swizzle, uint32_t address) {
  const uint32_t chunks = ((1u << static_cast<uint32_t>(swizzle)) - 1) << 4;
  return address ^ ((address >> 3) & chunks);
}

}  // namespace megakittens::device
