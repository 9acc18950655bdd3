// Hopper's device half of the GEMM: both warpgroups on one 128 x 256 tile, four stages of 64 along K.
// Pages: B of stage s fills logical page s; A of stages 0, 1 shares page 4 and of 2, 3 page 5; page 6 is passed on.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/epilogue.cuh"
#include "ops/noop/device.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using device::Lanes;

namespace loop {

inline constexpr uint32_t kStages = 4;
inline constexpr uint32_t kRowsA = 128, kColumnsB = 256;
inline constexpr uint32_t kBytesA = kRowsA * 128, kBytesB = kColumnsB * 128;
inline constexpr uint32_t kAccumulators = kColumnsB / 2;  ///< a lane's share of 64 x 256
inline constexpr uint32_t kFirstPageA = 4, kPagesUsed = 6;

template <class B>
MK_DEVICE uint32_t chunks(const Context<B>& c) {
  const uint32_t depth = device::constant(c.record()->parameters + gemm::kDepth);
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

}  // namespace loop

template <class In, bool kTransB>
struct Gemm : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const Context<B>& c) const {
    return loop::chunks(c);
  }

  /// Copies the operands that this role stands for into every stage.
  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
    using namespace loop;
    uint32_t guarded = 0;
    MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
    const bool with_a = ((guarded & 1) != 0) == dependent, with_b = ((guarded & 2) != 0) == dependent;
    const uint32_t count = chunks(c), bytes = (with_a ? kBytesA : 0) + (with_b ? kBytesB : 0);
    const program::NodeRecord* record = c.record();
    const device::TensorMap *map_a = c.map(record->operands[0].map), *map_b = c.map(record->operands[1].map);
    const int32_t outer0 = c.index(gemm::kOuter0), outer1 = c.index(gemm::kOuter1);
    const int32_t row = c.index(gemm::kRow), column = c.index(gemm::kColumn);
    // Broadcast batches have one matrix.
    const int32_t a0 = record->operands[0].strides[0] == 0 ? 0 : outer0;
    const int32_t a1 = record->operands[0].strides[1] == 0 ? 0 : outer1;
    const int32_t b0 = record->operands[1].strides[0] == 0 ? 0 : outer0;
    const int32_t b1 = record->operands[1].strides[1] == 0 ? 0 : outer1;
    if (dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
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
      if (with_a)
        ptx::cp_async_bulk_tensor_g2s<4>(address_a(c, stage), map_a, {depth, row, a1, a0}, stage_full(c, k));
      if (!with_b) continue;
      if constexpr (kTransB) {
        MK_ROLLED for (uint32_t block = 0; block < kColumnsB / 64; ++block)
          ptx::cp_async_bulk_tensor_g2s<4>(address_b(c, stage) + block * 8192, map_b,
                                           {column + static_cast<int32_t>(block) * 64, depth, b1, b0},
                                           stage_full(c, k));
      } else {
        ptx::cp_async_bulk_tensor_g2s<4>(address_b(c, stage), map_b, {depth, column, b1, b0}, stage_full(c, k));
      }
    }
  }
  template <class B>
  MK_DEVICE void load(Context<B>& c) const {
    bring(c, false);
  }
  template <class B>
  MK_DEVICE void follow(Context<B>& c) const {
    bring(c, true);
  }

  /// Passes on the pages that no stage of this instruction uses.
  template <class B>
  MK_DEVICE void store(Context<B>& c) const {
    using namespace loop;
    const uint32_t count = chunks(c);
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      const bool used = lid < kFirstPageA ? lid < count : lid < kPagesUsed && 2 * (lid - kFirstPageA) < count;
      if (used) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    using namespace loop;
    using device::Swizzle;
    const uint32_t warpgroup = c.warp / 4, count = chunks(c);
    Lanes<float> acc[kAccumulators];
    MK_UNROLL for (uint32_t i = 0; i < kAccumulators; ++i) acc[i] = 0.0f;
    // Chunk k's products have retired: its stage and, where it was the last in them, its pages are free (row 4).
    auto release = [&](uint32_t k) {
      if (c.warp % 4 != 0) return;
      device::one_lane([&] {
        free_stage(c, k, device::kWarpgroupArrivals);
        if (k + kStages >= count) finish_page(c, k % kStages, device::kWarpgroupArrivals);
        if (last_of_page_a(k, count)) finish_page(c, kFirstPageA + k % kStages / 2, device::kWarpgroupArrivals);
      });
    };
    MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
      wait_stage_full_warp(c, k);
      const uint32_t stage = k % kStages;
      const uint64_t a =
          megakittens::sm90::k_major(address_a(c, stage) + warpgroup * (kBytesA / 2), Swizzle::k128B);
      const uint64_t b = kTransB ? megakittens::sm90::n_major(address_b(c, stage), Swizzle::k128B, 8192)
                                 : megakittens::sm90::k_major(address_b(c, stage), Swizzle::k128B);
      constexpr uint32_t kStepB = kTransB ? megakittens::sm90::k_step_n_major(Swizzle::k128B)
                                          : megakittens::sm90::k_step_k_major();
      ptx::wgmma_fence();
      MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step)
        ptx::wgmma<In, kColumnsB, kTransB>(
            acc, megakittens::sm90::advance(a, step * megakittens::sm90::k_step_k_major()),
            megakittens::sm90::advance(b, step * kStepB), true);
      ptx::wgmma_commit_group();
      if (k > 0) {
        ptx::wgmma_wait_group<1>();
        release(k - 1);
      }
    }
    ptx::wgmma_wait_group<0>();
    ptx::keep_in_order(acc);
    if (count > 0) release(count - 1);
    wait_writable_warp(c);
    store_accumulators<kColumnsB>(c, acc, c.index(gemm::kRow) + static_cast<int32_t>(warpgroup) * 64);
  }
};

}  // namespace megakittens::ops::sm90
