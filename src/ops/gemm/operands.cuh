// What both architectures' GEMM loops share: what an icode says, and the copies that bring operands into stages.
#pragma once

#include "ops/gemm/arguments.hpp"
#include "ops/icodes.hpp"
#include "ops/noop/device.cuh"

namespace megakittens::ops::gemm {

using device::Context;

/// What the instruction's icode says about its operands.
struct Kind {
  bool general;  ///< operands come by the consumers' ordinary loads
  bool exact;    ///< fp32
  bool f16;
  bool n_major;
  bool medium;   ///< Hopper: 128 columns
  bool divided;  ///< Hopper: 64 rows, K divided between the warpgroups
  bool narrow;   ///< and 64 columns, not 128

  template <class B>
  MK_DEVICE explicit Kind(const Context<B>& c) {
    const uint32_t icode = c.word(0) & 0xffff;
    general = icode >= kIcode_gemm_general_bf16;
    exact = icode == kIcode_gemm_general_f32;
    medium = icode >= kIcode_gemm_medium_bf16_kmajor && icode < kIcode_gemm_divided_bf16_kmajor;
    divided = !general && icode >= kIcode_gemm_divided_bf16_kmajor;
    narrow = !general && icode >= kIcode_gemm_narrow_bf16_kmajor;
    const uint32_t which = (icode - kIcode_gemm_bf16_kmajor) % 4;
    f16 = general ? icode == kIcode_gemm_general_f16 : which >= 2;
    n_major = !general && which % 2 == 1;
  }
};

/// Fills of a stage, Tile::kDepth of K each, that the instruction needs.
template <class Tile, class B>
MK_DEVICE uint32_t stages(const Context<B>& c) {
  return (static_cast<uint32_t>(c.index(kTileDepth)) + Tile::kDepth - 1) / Tile::kDepth;
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

/// Copies the operands that this role stands for into every stage (row 1). Tile: kStages, kRows, kColumns and kDepth of
/// a stage, page_a and page_b of a stage, kTogether (they are one), opens_page_a (the stage is the first in its page),
/// and offset_a in that page.
/// One lane. Small products wait for this loop: it carries its place along, and what can be done is done before the
/// waits for other SMs.
template <class Tile, class B>
MK_DEVICE void bring(Context<B>& c, bool dependent) {
  constexpr uint32_t kBytesA = Tile::kRows * 2 * Tile::kDepth, kBytesB = Tile::kColumns * 2 * Tile::kDepth;
  constexpr uint32_t kBlock = 64, kBlocksDeep = Tile::kDepth / kBlock;
  constexpr uint32_t kBlockRowBytes = 2 * kBlock;
  const bool n_major = Kind(c).n_major;
  bool with_a = false, with_b = false;
  own_operands(c, dependent, with_a, with_b);
  const uint32_t count = stages<Tile>(c), bytes = (with_a ? kBytesA : 0) + (with_b ? kBytesB : 0);
  const Source a(c, 0), b(c, 1);
  const int32_t row = c.index(kRow), column = c.index(kColumn);
  const uint32_t pages = c.page_map();
  uint32_t stage = 0;
  int32_t depth = 0;
  MK_ROLLED for (uint32_t k = 0; k < count; ++k, depth += static_cast<int32_t>(Tile::kDepth)) {
    wait_stage_free(c, k, Tile::kStages);
    const uint32_t page_a = device::mapped_page(pages, Tile::page_a(stage));
    const uint32_t page_b = device::mapped_page(pages, Tile::page_b(stage));
    if (k < Tile::kStages) {
      if (with_b || Tile::kTogether) wait_physical_page(c, page_b);
      if (with_a && !Tile::kTogether && Tile::opens_page_a(stage)) wait_physical_page(c, page_a);
      // Rows 9 and 11.
      if (k == 0 && dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
    }
    fill_stage(c, k, bytes);
    const uint32_t full = stage_full(c, k);
    if (with_a && !c.aborted)
      copy_boxes<kBlocksDeep>(c.base + page_a * B::kPageBytes + Tile::offset_a(stage), Tile::kRows * kBlockRowBytes, a,
                              depth, row, full);
    if (with_b && !c.aborted) {
      const uint32_t to = c.base + page_b * B::kPageBytes;
      if (n_major)
        copy_boxes<Tile::kColumns / kBlock>(to, Tile::kDepth * kBlockRowBytes, b, column, depth, full);
      else
        copy_boxes<kBlocksDeep>(to, Tile::kColumns * kBlockRowBytes, b, depth, column, full);
    }
    stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
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

// Kind reads an icode as its place in this order: four times bf16 and f16, each K-major and N-major.
static_assert(kIcode_gemm_bf16_nmajor == kIcode_gemm_bf16_kmajor + 1 &&
              kIcode_gemm_f16_kmajor == kIcode_gemm_bf16_kmajor + 2 &&
              kIcode_gemm_medium_bf16_kmajor == kIcode_gemm_bf16_kmajor + 4 &&
              kIcode_gemm_divided_bf16_kmajor == kIcode_gemm_bf16_kmajor + 8 &&
              kIcode_gemm_narrow_bf16_kmajor == kIcode_gemm_bf16_kmajor + 12 &&
              kIcode_gemm_narrow_f16_nmajor == kIcode_gemm_bf16_kmajor + 15 &&
              kIcode_gemm_general_bf16 == kIcode_gemm_bf16_kmajor + 16);

}  // namespace megakittens::ops::gemm
