// What both architectures' GEMM loops share: where a tile's stages lie, and the copies that bring operands into them.
#pragma once

#include "ops/gemm/arguments.hpp"
#include "ops/gemm/tile.hpp"
#include "ops/noop/device.cuh"

namespace megakittens::ops::gemm {

using device::Context;

template <class B>
MK_DEVICE Kind kind_of(const Context<B>& c) {
  return Kind(c.word(0) & 0xffff);
}

/// How often the instruction fills the ring's stages.
template <Tile kTile, class B>
MK_DEVICE uint32_t fills(const Context<B>& c) {
  return kTile.fills(static_cast<uint32_t>(c.index(kTileDepth)));
}

/// A's and B's part of a stage in shared memory. `pages`: Context::page_map().
template <Tile kTile, class B>
MK_DEVICE uint32_t address_a(const Context<B>& c, uint32_t pages, uint32_t stage) {
  return c.base + device::mapped_page(pages, kTile.page_a(stage)) * B::kPageBytes + kTile.offset_a(stage);
}
template <Tile kTile, class B>
MK_DEVICE uint32_t address_b(const Context<B>& c, uint32_t pages, uint32_t stage) {
  return c.base + device::mapped_page(pages, kTile.page_b(stage)) * B::kPageBytes;
}

/// An operand as `bring` copies it: its map and where the tile begins.
struct Source {
  const device::TensorMap* map;
  int32_t outer[2];  ///< batch position; a broadcast batch has one matrix

  template <class B>
  MK_DEVICE Source(const Context<B>& c, uint32_t operand) {
    const uint32_t word = c.operand_word(operand);
    map = c.map(word >> 16);
    MK_UNROLL for (uint32_t d = 0; d < 2; ++d) {
      const int32_t at = c.index(kOuter0 + d);
      const uint32_t broadcast = (program::kOperandBroadcast0 << d) << 8;
      outer[d] = (word & broadcast) != 0 ? 0 : at;
    }
  }
};

/// Which operands this role copies: those that wait for nothing are the loader's, the others the follower's.
template <class B>
MK_DEVICE void own_operands(const Context<B>& c, bool dependent, bool& with_a, bool& with_b) {
  // Waits that the instruction does not have guard nothing.
  uint32_t guarded =
      c.word(program::kWordGuards) | c.word(program::kWordGuardsHigh) | c.word(program::kWordGuardsHigh + 1);
  guarded |= guarded >> 16;
  guarded |= guarded >> 8;
  with_a = ((guarded & program::guard_bit(0)) != 0) == dependent;
  with_b = ((guarded & program::guard_bit(1)) != 0) == dependent;
}

/// Boxes of 64 elements in the contiguous dimension, `step_bytes` apart in shared memory, that make a stage of one
/// operand. The innermost coordinate is the contiguous one.
template <uint32_t kBoxes>
MK_DEVICE void copy_boxes(uint32_t to, uint32_t step_bytes, const Source& from, int32_t inner, int32_t outer,
                          uint32_t full) {
  MK_UNROLL for (uint32_t box = 0; box < kBoxes; ++box) {
    const int32_t at[4] = {inner + static_cast<int32_t>(64 * box), outer, from.outer[1], from.outer[0]};
    ptx::cp_async_bulk_tensor_g2s<4>(to + box * step_bytes, from.map, at, full);
  }
}

/// Copies the operands that this role stands for into every stage (row 1). One lane. Small products wait for this loop:
/// it carries its place along, and what can be done is done before the waits for other SMs.
template <Tile kTile, class B>
MK_DEVICE void bring(Context<B>& c, bool dependent) {
  static_assert(B::kPages == kPages && B::kPageBytes == kPageBytes);
  constexpr uint32_t kBlocksDeep = kTile.depth / kBlock;
  const bool m_major = kind_of(c).m_major, n_major = kind_of(c).n_major;
  bool with_a = false, with_b = false;
  own_operands(c, dependent, with_a, with_b);
  const uint32_t count = fills<kTile>(c), bytes = (with_a ? kTile.bytes_a() : 0) + (with_b ? kTile.bytes_b() : 0);
  const Source a(c, 0), b(c, 1);
  const int32_t row = c.index(kRow), column = c.index(kColumn);
  const uint32_t pages = c.page_map();
  uint32_t stage = 0;
  int32_t depth = 0;
  MK_ROLLED for (uint32_t k = 0; k < count; ++k, depth += static_cast<int32_t>(kTile.depth)) {
    wait_stage_free(c, k, kTile.stages);
    const uint32_t page_a = device::mapped_page(pages, kTile.page_a(stage));
    const uint32_t page_b = device::mapped_page(pages, kTile.page_b(stage));
    if (k < kTile.stages) {
      if (with_b || kTile.together()) wait_physical_page(c, page_b);
      if (with_a && !kTile.together() && kTile.opens_page_a(stage)) wait_physical_page(c, page_a);
      // Rows 9 and 11.
      if (k == 0 && dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
    }
    fill_stage(c, k, bytes);
    const uint32_t full = stage_full(c, k);
    if (with_a && !c.aborted) {
      const uint32_t to = c.base + page_a * B::kPageBytes + kTile.offset_a(stage);
      if (m_major)
        copy_boxes<kTile.rows / kBlock>(to, kTile.depth * kBlockRowBytes, a, row, depth, full);
      else
        copy_boxes<kBlocksDeep>(to, kTile.rows * kBlockRowBytes, a, depth, row, full);
    }
    if (with_b && !c.aborted) {
      const uint32_t to = c.base + page_b * B::kPageBytes;
      if (n_major)
        copy_boxes<kTile.columns / kBlock>(to, kTile.depth * kBlockRowBytes, b, column, depth, full);
      else
        copy_boxes<kBlocksDeep>(to, kTile.columns * kBlockRowBytes, b, depth, column, full);
    }
    stage = stage + 1 == kTile.stages ? 0 : stage + 1;
  }
}

/// A general product's part of that: one stage without bytes hands the follower's acquire to the consumers (rows 8 and
/// 10), which load for themselves.
template <class B>
MK_DEVICE void bring_nothing(Context<B>& c, bool dependent) {
  if (dependent) wait_counters(c, 0xff & ~program::kGuardWrite);
  wait_stage_free(c, 0, device::kRingStages);
  fill_stage(c, 0, 0);
}

}  // namespace megakittens::ops::gemm
