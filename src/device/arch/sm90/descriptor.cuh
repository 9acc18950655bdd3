// The 64-bit word by which wgmma finds a matrix operand in shared memory. PTX: "Matrix descriptor format" of wgmma.
// Plain constexpr functions: device code encodes, the host's twins decode.
#pragma once

#include "device/core/swizzle.cuh"

namespace megakittens::sm90 {

using device::Swizzle;

/// Offsets and addresses in bytes, multiples of 16, below 2^18.
struct MatrixDescriptor {
  uint32_t address;         ///< shared-window address of the first element
  uint32_t leading_offset;  ///< see k_major and n_major below
  uint32_t stride_offset;   ///< from one group of eight rows (K-major) or of eight k (N-major) to the next
  uint32_t base_offset;     ///< 0 where the pattern starts at a multiple of swizzle_atom_bytes
  Swizzle swizzle;
};

constexpr uint64_t encode(const MatrixDescriptor& d) {
  // The field counts 1, 2, 3 for 128, 64, 32 bytes: the reverse of the tensor map's.
  const uint64_t mode = d.swizzle == Swizzle::kNone ? 0 : 4 - static_cast<uint64_t>(d.swizzle);
  return uint64_t{(d.address >> 4) & 0x3fff} | uint64_t{(d.leading_offset >> 4) & 0x3fff} << 16 |
         uint64_t{(d.stride_offset >> 4) & 0x3fff} << 32 | uint64_t{d.base_offset & 7} << 49 | mode << 62;
}

constexpr MatrixDescriptor decode(uint64_t word) {
  const uint64_t mode = word >> 62;
  return {static_cast<uint32_t>(word & 0x3fff) << 4, static_cast<uint32_t>(word >> 16 & 0x3fff) << 4,
          static_cast<uint32_t>(word >> 32 & 0x3fff) << 4, static_cast<uint32_t>(word >> 49 & 7),
          mode == 0 ? Swizzle::kNone : static_cast<Swizzle>(4 - mode)};
}

/// K contiguous, rows of swizzle_row_bytes: A without TransA, B without TransB. Eight rows are one atom and follow each
/// other. Without a swizzle the tile is core matrices of 8 x 16 bytes, `leading_offset` apart along K.
constexpr uint64_t k_major(uint32_t address, Swizzle swizzle, uint32_t leading_offset = 16) {
  return encode({address, leading_offset, swizzle_atom_bytes(swizzle), 0, swizzle});
}

/// N (or M) contiguous: B with TransB, A with TransA. Blocks of swizzle_row_bytes / 2 elements of N lie
/// `leading_offset` bytes apart, each with its k one under the other in rows of swizzle_row_bytes.
constexpr uint64_t n_major(uint32_t address, Swizzle swizzle, uint32_t leading_offset) {
  return encode({address, leading_offset, swizzle_atom_bytes(swizzle), 0, swizzle});
}

/// The operand `bytes` further on in shared memory, bytes a multiple of 16: the next 16 k are 32 bytes further in a
/// K-major row, and two atoms further in an N-major block.
constexpr uint64_t advance(uint64_t descriptor, uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

/// Bytes from one step of 16 k to the next.
constexpr uint32_t k_step_k_major() {
  return 32;
}
constexpr uint32_t k_step_n_major(Swizzle swizzle) {
  return 2 * swizzle_atom_bytes(swizzle);
}

}  // namespace megakittens::sm90
