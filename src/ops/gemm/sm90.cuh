// Hopper's device half of all GEMM icodes: both warpgroups on one 128 x 256 tile, four stages of 64 along K. Main loops
// differ by type and layout; the accumulator array and the epilogue are one.
// Pages: B of stage s fills logical page s; A of stages 0, 1 shares page 4 and of 2, 3 page 5; page 6 is passed on.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/epilogue.cuh"
#include "ops/gemm/exact.cuh"
#include "ops/icodes.hpp"
#include "ops/noop/device.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using device::Lanes;

inline constexpr uint32_t kStages = 4;
inline constexpr uint32_t kRowsA = 128, kColumnsB = 256;
inline constexpr uint32_t kBytesA = kRowsA * 128, kBytesB = kColumnsB * 128;
inline constexpr uint32_t kAccumulators = kColumnsB / 2;  ///< a lane's share of 64 x 256
inline constexpr uint32_t kFirstPageA = 4, kPagesUsed = 6;

template <class B>
MK_DEVICE uint32_t chunks(const Context<B>& c) {
  const uint32_t depth = static_cast<uint32_t>(c.index(gemm::kTileDepth));
  return (depth + gemm::kStageDepth - 1) / gemm::kStageDepth;
}
template <class B>
MK_DEVICE uint32_t address_a(const Context<B>& c, uint32_t stage) {
  return c.page_address(kFirstPageA + stage / 2) + stage % 2 * kBytesA;
}
template <class B>
MK_DEVICE uint32_t address_b(const Context<B>& c, uint32_t stage) {
  return c.page_address(stage);
}
/// The last chunk of K that uses the page of A that holds `stage`'s part.
MK_DEVICE bool last_of_page_a(uint32_t chunk, uint32_t count) {
  // The neighbour in the page is the chunk before (odd stage) or after (even stage).
  return chunk % 2 == 1 ? chunk + 3 >= count : chunk + 1 >= count;
}

/// Chunk k's products have retired: its stage and, where it was the last in them, its pages are free (row 4).
/// One lane speaks for its warpgroup, whose products retire together.
template <class B>
MK_DEVICE void release_chunk(Context<B>& c, uint32_t k, uint32_t count) {
  if (c.warp % 4 != 0) return;
  device::one_lane([&] {
    free_stage(c, k, device::kWarpgroupArrivals);
    if (k + kStages >= count) finish_page(c, k % kStages, device::kWarpgroupArrivals);
    if (last_of_page_a(k, count)) finish_page(c, kFirstPageA + k % kStages / 2, device::kWarpgroupArrivals);
  });
}

/// Both operands' next 64 of K by ordinary loads, K contiguous in shared memory. All consumer warps.
template <class B>
MK_DEVICE void stage_chunk(Context<B>& c, uint32_t k) {
  if (!c.aborted) {
    const int32_t depth = static_cast<int32_t>(k) * gemm::kStageDepth;
    stage_16bit(c, matrix_a(c), c.index(gemm::kRow), depth, kRowsA, address_a(c, 0));
    stage_16bit(c, matrix_b(c), c.index(gemm::kColumn), depth, kColumnsB, address_b(c, 0));
  }
  ptx::fence_proxy_async_shared_cta();  // ordinary stores, then tensor-core reads (row 6); and row 3 after the last
  sync_consumers();
}

/// What the instruction's icode says about its operands.
struct Kind {
  bool general;  ///< operands come by the consumers' ordinary loads
  bool exact;    ///< fp32
  bool f16;
  bool n_major;

  template <class B>
  MK_DEVICE explicit Kind(const Context<B>& c) {
    const uint32_t icode = c.word(0) & 0xffff;
    general = icode >= kIcode_gemm_general_bf16;
    exact = icode == kIcode_gemm_general_f32;
    f16 = icode == kIcode_gemm_f16_kmajor || icode == kIcode_gemm_f16_nmajor || icode == kIcode_gemm_general_f16;
    n_major = icode == kIcode_gemm_bf16_nmajor || icode == kIcode_gemm_f16_nmajor;
  }
};

/// acc += A * B for the warpgroup's 64 rows. Staged: chunks come by stage_chunk, one at a time. One loop a kind: with
/// the kinds' products in branches of one loop the assembler serialises them (C7520).
template <class In, bool kTransB, class B>
MK_DEVICE void multiply(Context<B>& c, bool staged, Lanes<float> (&acc)[kAccumulators]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t warpgroup = c.warp / 4, count = chunks(c);
  MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
    if (staged)
      stage_chunk(c, k);
    else
      wait_stage_full_warp(c, k);
    const uint32_t stage = staged ? 0 : k % kStages;
    const uint64_t a = k_major(address_a(c, stage) + warpgroup * (kBytesA / 2), Swizzle::k128B);
    const uint64_t b =
        kTransB ? n_major(address_b(c, stage), Swizzle::k128B, 8192) : k_major(address_b(c, stage), Swizzle::k128B);
    ptx::wgmma_fence();
    MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step)
        ptx::wgmma<In, kColumnsB, kTransB>(acc, advance(a, step * k_step_k_major()), advance(b, step * kStepB), true);
    ptx::wgmma_commit_group();
    if (staged) {
      ptx::wgmma_wait_group<0>();
      sync_consumers();
    } else if (k > 0) {
      ptx::wgmma_wait_group<1>();
      release_chunk(c, k - 1, count);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(acc);
  if (!staged && count > 0) release_chunk(c, count - 1, count);
}

/// The two pages of the general types: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = kFirstPageA, kGeneralPageB = 0;

struct Gemm : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const Context<B>& c) const {
    return Kind(c).general ? 1 : chunks(c);
  }

  /// Copies the operands that this role stands for into every stage.
  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
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
      const int32_t at = c.index(gemm::kOuter0 + d);
      const uint32_t broadcast = (program::kOperandBroadcast0 << d) << 8;
      outer_a[d] = (word_a & broadcast) != 0 ? 0 : at;
      outer_b[d] = (word_b & broadcast) != 0 ? 0 : at;
    }
    const int32_t row = c.index(gemm::kRow), column = c.index(gemm::kColumn);
    MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
      const uint32_t stage = k % kStages;
      wait_stage_free(c, k, kStages);
      if (k < kStages) {
        if (with_b) wait_page(c, stage);
        if (with_a && stage % 2 == 0) wait_page(c, kFirstPageA + stage / 2);
      }
      fill_stage(c, k, bytes);
      if (c.aborted) continue;
      const int32_t depth = static_cast<int32_t>(k) * gemm::kStageDepth;
      if (with_a) {
        const int32_t at[4] = {depth, row, outer_a[1], outer_a[0]};
        ptx::cp_async_bulk_tensor_g2s<4>(address_a(c, stage), map_a, at, stage_full(c, k));
      }
      if (!with_b) continue;
      // K-major: one box of 256 rows of 64 k. N-major: four boxes of 64 rows of k, 64 columns each.
      const uint32_t boxes = kind.n_major ? kColumnsB / 64 : 1;
      MK_ROLLED for (uint32_t box = 0; box < boxes; ++box) {
        const int32_t first = column + static_cast<int32_t>(box) * 64;
        const int32_t at[4] = {kind.n_major ? first : depth, kind.n_major ? depth : first, outer_b[1], outer_b[0]};
        ptx::cp_async_bulk_tensor_g2s<4>(address_b(c, stage) + box * 8192, map_b, at, stage_full(c, k));
      }
    }
  }

  /// Passes on the pages that this instruction does not use.
  template <class B>
  MK_DEVICE void store(Context<B>& c) const {
    const bool general = Kind(c).general;
    const uint32_t count = chunks(c);
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      const bool staged = lid < kFirstPageA ? lid < count : lid < kPagesUsed && 2 * (lid - kFirstPageA) < count;
      const bool used = general ? lid == kGeneralPageA || lid == kGeneralPageB : staged;
      if (used) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    const Kind kind(c);
    Lanes<float> acc[kAccumulators];
    MK_UNROLL for (uint32_t i = 0; i < kAccumulators; ++i) acc[i] = 0.0f;
    if (kind.general) {
      wait_stage_full_warp(c, 0);
      wait_page_warp(c, kGeneralPageA);
      wait_page_warp(c, kGeneralPageB);
    }
    if (kind.exact) {
      exact::multiply(c, matrix_a(c), matrix_b(c), c.page_address(kGeneralPageA), c.page_address(kGeneralPageB), acc);
    } else if (kind.n_major) {
      if (kind.f16)
        multiply<device::F16, true>(c, false, acc);
      else
        multiply<device::Bf16, true>(c, false, acc);
    } else {
      if (kind.f16)
        multiply<device::F16, false>(c, kind.general, acc);
      else
        multiply<device::Bf16, false>(c, kind.general, acc);
    }
    if (kind.general) {
      device::one_lane([&] {
        free_stage(c, 0, 1);
        finish_page(c, kGeneralPageA, 1);
        finish_page(c, kGeneralPageB, 1);
      });
    }
    wait_writable_warp(c);
    store_accumulators<kColumnsB>(c, acc);
  }
};

}  // namespace megakittens::ops::sm90
