// The words by which tcgen05.mma finds its operands and learns their types and shape. PTX: "Shared memory descriptor"
// and "Instruction descriptor" of tcgen05. Plain constexpr functions: device code encodes, the host's twins decode.
#pragma once

#include "device/core/swizzle.cuh"

namespace megakittens::sm100 {

using device::Bf16;
using device::F16;
using device::kSame;
using device::Swizzle;

/// Offsets and addresses in bytes, multiples of 16, below 2^18. Meanings as in arch/sm90/descriptor.cuh.
struct MatrixDescriptor {
  uint32_t address;
  uint32_t leading_offset;
  uint32_t stride_offset;
  uint32_t base_offset;
  Swizzle swizzle;
};

constexpr uint64_t encode(const MatrixDescriptor& d) {
  // Modes 6, 4, 2 are 32, 64, 128 bytes; bits 46 to 48 hold the constant 1 of this descriptor's version.
  const uint64_t mode = d.swizzle == Swizzle::kNone ? 0 : 8 - 2 * static_cast<uint64_t>(d.swizzle);
  return uint64_t{(d.address >> 4) & 0x3fff} | uint64_t{(d.leading_offset >> 4) & 0x3fff} << 16 |
         uint64_t{(d.stride_offset >> 4) & 0x3fff} << 32 | uint64_t{1} << 46 | uint64_t{d.base_offset & 7} << 49 |
         mode << 61;
}

constexpr MatrixDescriptor decode(uint64_t word) {
  const uint64_t mode = word >> 61;
  return {static_cast<uint32_t>(word & 0x3fff) << 4, static_cast<uint32_t>(word >> 16 & 0x3fff) << 4,
          static_cast<uint32_t>(word >> 32 & 0x3fff) << 4, static_cast<uint32_t>(word >> 49 & 7),
          mode == 0 ? Swizzle::kNone : static_cast<Swizzle>((8 - mode) / 2)};
}

constexpr uint64_t k_major(uint32_t address, Swizzle swizzle, uint32_t leading_offset = 16) {
  return encode({address, leading_offset, swizzle_atom_bytes(swizzle), 0, swizzle});
}

constexpr uint64_t n_major(uint32_t address, Swizzle swizzle, uint32_t leading_offset) {
  return encode({address, leading_offset, swizzle_atom_bytes(swizzle), 0, swizzle});
}

constexpr uint64_t advance(uint64_t descriptor, uint32_t bytes) {
  return descriptor + (bytes >> 4);
}

/// The fields of kind::f16 that we use; float accumulators.
struct InstructionDescriptor {
  bool bf16;     ///< both operands: bf16 or f16
  bool trans_a;  ///< A is M-major
  bool trans_b;  ///< B is N-major
  uint32_t m;    ///< 64 or 128, 128 or 256 in a pair
  uint32_t n;    ///< multiple of 8 (16 when m is 128) up to 256
};

constexpr uint32_t encode(const InstructionDescriptor& d) {
  return 1u << 4 | uint32_t{d.bf16} << 7 | uint32_t{d.bf16} << 10 | uint32_t{d.trans_a} << 15 |
         uint32_t{d.trans_b} << 16 | (d.n >> 3) << 17 | (d.m >> 4) << 24;
}

constexpr InstructionDescriptor decode_instruction(uint32_t word) {
  return {(word >> 7 & 7) == 1, (word >> 15 & 1) != 0, (word >> 16 & 1) != 0, (word >> 24 & 0x1f) << 4,
          (word >> 17 & 0x3f) << 3};
}

template <class In>
constexpr uint32_t instruction(uint32_t m, uint32_t n, bool trans_a = false, bool trans_b = false) {
  static_assert(kSame<In, Bf16> || kSame<In, F16>);
  return encode(InstructionDescriptor{kSame<In, Bf16>, trans_a, trans_b, m, n});
}

}  // namespace megakittens::sm100
