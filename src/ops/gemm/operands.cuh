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
  bool divided;  ///< Hopper: 64 x 128 tile, chunks of K divided between the warpgroups

  template <class B>
  MK_DEVICE explicit Kind(const Context<B>& c) {
    const uint32_t icode = c.word(0) & 0xffff;
    general = icode >= kIcode_gemm_general_bf16;
    exact = icode == kIcode_gemm_general_f32;
    divided = !general && icode >= kIcode_gemm_divided_bf16_kmajor;
    const uint32_t which = icode - (divided ? kIcode_gemm_divided_bf16_kmajor : kIcode_gemm_bf16_kmajor);
    f16 = general ? icode == kIcode_gemm_general_f16 : which >= 2;
    n_major = !general && which % 2 == 1;
  }
};

/// Stages of 64 along K that the instruction needs.
template <class B>
MK_DEVICE uint32_t chunks(const Context<B>& c) {
  const uint32_t depth = static_cast<uint32_t>(c.index(kTileDepth));
  return (depth + kStageDepth - 1) / kStageDepth;
}

/// Copies the operands that this role stands for into every stage (row 1). Tile: kStages, kRows and kColumns, page_a
/// and page_b of a stage, opens_page_a (the stage is the first in its page), address_a and address_b.
template <class Tile, class B>
MK_DEVICE void bring(Context<B>& c, bool dependent) {
  constexpr uint32_t kBytesA = Tile::kRows * 2 * kStageDepth, kBytesB = Tile::kColumns * 2 * kStageDepth;
  constexpr uint32_t kBlockColumns = 64, kBlockBytes = kBlockColumns * 2 * kStageDepth;
  const Kind kind(c);
  uint32_t guarded = 0;
  MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
  if (dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
  if (kind.general) {  // one stage without bytes hands the follower's acquire to the consumers (rows 8 and 10)
    wait_stage_free(c, 0, device::kRingStages);
    return fill_stage(c, 0, 0);
  }
  const bool with_a = ((guarded & 1) != 0) == dependent, with_b = ((guarded & 2) != 0) == dependent;
  const uint32_t count = chunks(c), bytes = (with_a ? kBytesA : 0) + (with_b ? kBytesB : 0);
  const uint32_t word_a = c.operand_word(0), word_b = c.operand_word(1);
  const device::TensorMap *map_a = c.map(word_a >> 16), *map_b = c.map(word_b >> 16);
  int32_t outer_a[2], outer_b[2];
  MK_UNROLL for (uint32_t d = 0; d < 2; ++d) {  // a broadcast batch has one matrix
    const int32_t at = c.index(kOuter0 + d);
    const uint32_t broadcast = (program::kOperandBroadcast0 << d) << 8;
    outer_a[d] = (word_a & broadcast) != 0 ? 0 : at;
    outer_b[d] = (word_b & broadcast) != 0 ? 0 : at;
  }
  const int32_t row = c.index(kRow), column = c.index(kColumn);
  MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
    const uint32_t stage = k % Tile::kStages;
    wait_stage_free(c, k, Tile::kStages);
    if (k < Tile::kStages) {
      if (with_b) wait_page(c, Tile::page_b(stage));
      if (with_a && Tile::opens_page_a(stage)) wait_page(c, Tile::page_a(stage));
    }
    fill_stage(c, k, bytes);
    if (c.aborted) continue;
    const int32_t depth = static_cast<int32_t>(k) * kStageDepth;
    if (with_a) {
      const int32_t at[4] = {depth, row, outer_a[1], outer_a[0]};
      ptx::cp_async_bulk_tensor_g2s<4>(Tile::address_a(c, stage), map_a, at, stage_full(c, k));
    }
    if (!with_b) continue;
    // K-major: one box of all columns by 64 k. N-major: boxes of 64 rows of k, 64 columns each.
    const uint32_t boxes = kind.n_major ? Tile::kColumns / kBlockColumns : 1;
    MK_ROLLED for (uint32_t box = 0; box < boxes; ++box) {
      const int32_t first = column + static_cast<int32_t>(box * kBlockColumns);
      const int32_t at[4] = {kind.n_major ? first : depth, kind.n_major ? depth : first, outer_b[1], outer_b[0]};
      ptx::cp_async_bulk_tensor_g2s<4>(Tile::address_b(c, stage) + box * kBlockBytes, map_b, at, stage_full(c, k));
    }
  }
}

// Kind reads an icode as its place in this order.
static_assert(kIcode_gemm_bf16_nmajor == kIcode_gemm_bf16_kmajor + 1 &&
              kIcode_gemm_f16_kmajor == kIcode_gemm_bf16_kmajor + 2 &&
              kIcode_gemm_f16_nmajor == kIcode_gemm_bf16_kmajor + 3 &&
              kIcode_gemm_divided_bf16_kmajor == kIcode_gemm_bf16_kmajor + 4 &&
              kIcode_gemm_divided_f16_nmajor == kIcode_gemm_divided_bf16_kmajor + 3 &&
              kIcode_gemm_general_bf16 == kIcode_gemm_divided_bf16_kmajor + 4);

}  // namespace megakittens::ops::gemm
