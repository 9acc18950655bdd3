// Operands that do not lie as the space does: a warp brings its block's elements, as they are, into its part of the
// staging pages.
#pragma once

#include "ops/elementwise/position.cuh"

namespace megakittens::ops::elementwise {

/// Eight elements from the walk's on, of which `count` exist, to shared memory.
MK_DEVICE void gather_run(const Strided& operand, Walk& walk, Lanes<int32_t> count, Lanes<uint32_t> to) {
  const uint32_t size = element_size(operand.type);
  if (size == 2) {
    Lanes<uint32_t> bits[kRun];
    MK_UNROLL for (int32_t i = 0; i < int32_t{kRun}; ++i) bits[i] =
        device::convert<uint32_t>(ptx::ld_global_u16(operand.base, walk.next(), count > i, uint16_t{0}));
    Words<4> words;
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[i] = bits[2 * i] | bits[2 * i + 1] << 16;
    ptx::st_shared_v4(to, words);
  } else if (size == 4) {
    Words<4> words[2];
    MK_UNROLL for (int32_t i = 0; i < int32_t{kRun}; ++i) words[i / 4].w[i % 4] =
        ptx::ld_global_u32(operand.base, walk.next(), count > i, 0u);
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) ptx::st_shared_v4(to + 16 * h, words[h]);
  } else if (size == 8) {
    MK_ROLLED for (int32_t i = 0; i < int32_t{kRun}; ++i) ptx::st_shared_u64(
        to + static_cast<uint32_t>(8 * i), ptx::ld_global_u64(operand.base, walk.next(), count > i, uint64_t{0}));
  } else {
    Words<2> words{};
    MK_UNROLL for (int32_t i = 0; i < int32_t{kRun}; ++i) words.w[i / 4] =
        words.w[i / 4] | device::convert<uint32_t>(ptx::ld_global_u8(operand.base, walk.next(), count > i, uint8_t{0}))
                             << (8 * (i % 4));
    ptx::st_shared_v2(to, words);
  }
}

/// Gathers a block's part of operand k: `kRuns` runs in each lane, 256 elements apart, the first from the instruction's
/// element `first` on, which lies at `address`.
template <uint32_t kRuns, class B>
MK_DEVICE void gather(const device::Context<B>& c, uint32_t k, uint32_t mode, uint32_t elements, Lanes<uint32_t> first,
                      Lanes<uint32_t> address) {
  const RecordSpace space(c);
  const Strided operand(c, space, k);
  const uint32_t size = element_size(operand.type);
  if (mode == kVectorRun) {
    Words<4> words[kRuns];
    MK_ROLLED for (uint32_t h = 0; h < size / 2; ++h) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) {
        const Lanes<uint32_t> e = first + 256 * g;
        words[g] = ptx::ld_global_v4(operand.base, operand.offset(space, Position(c, space, e)) + uint64_t{16 * h},
                                     e < elements, Words<4>{});
      }
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) ptx::st_shared_v4(address + (256 * g * size + 16 * h), words[g]);
    }
    return;
  }
  MK_ROLLED for (uint32_t g = 0; g < kRuns; ++g) {
    const Lanes<uint32_t> e = first + 256 * g;
    Walk walk(c, space, operand, e);
    const Lanes<int32_t> left = device::convert<int32_t>(elements - e);
    if (mode == kConstantRun) walk.stand();
    gather_run(operand, walk, left, address + 256 * g * size);
  }
}

}  // namespace megakittens::ops::elementwise
