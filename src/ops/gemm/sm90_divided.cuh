// Hopper's loop for small products: a 64 x 128 tile, so that more SMs have work. Even chunks of K belong to warpgroup
// 0, odd ones to warpgroup 1; at the end each gives the other half of its sums, by way of shared memory.
// Pages: stage s fills logical page s, A before B. Page 6 carries the sums.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/operands.cuh"
#include "ops/gemm/staging.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using device::Lanes;
using gemm::chunks;
using gemm::Kind;

struct DividedTile {
  static constexpr uint32_t kStages = 6, kRows = gemm::kDividedRows, kColumns = gemm::kDividedColumns;
  static constexpr uint32_t kBytesA = kRows * 128;
  static constexpr uint32_t kPageSums = 6;
  static MK_DEVICE uint32_t page_a(uint32_t stage) { return stage; }
  static MK_DEVICE uint32_t page_b(uint32_t stage) { return stage; }
  static MK_DEVICE bool opens_page_a(uint32_t) { return true; }
  static MK_DEVICE bool uses(uint32_t lid, uint32_t count) { return lid == kPageSums || lid < count; }
  template <class B>
  static MK_DEVICE uint32_t address_a(const Context<B>& c, uint32_t stage) {
    return c.page_address(stage);
  }
  template <class B>
  static MK_DEVICE uint32_t address_b(const Context<B>& c, uint32_t stage) {
    return c.page_address(stage) + kBytesA;
  }
};
/// Parity tells two phases of a stage apart: the warpgroups must keep their turns when stages wrap.
static_assert(DividedTile::kStages % 2 == 0 && device::kRingStages % 2 == 0);

inline constexpr int32_t kHalfColumns = DividedTile::kColumns / 2;
inline constexpr uint32_t kHalfSums = kHalfColumns / 2;  ///< a lane's share of 64 x 64

/// The warpgroup's chunk k has been multiplied: its stage and, where it was the last in it, its page are free (row 4).
template <class B>
MK_DEVICE void release_divided_chunk(Context<B>& c, uint32_t k, uint32_t count) {
  if (c.warp % 4 != 0) return;
  device::one_lane([&] {
    free_stage(c, k);
    if (k + DividedTile::kStages >= count) finish_page(c, k % DividedTile::kStages);
  });
}

/// sums += A * B over the warpgroup's chunks of K.
template <class In, bool kTransB, class B>
MK_DEVICE void multiply_chunks(Context<B>& c, Lanes<float> (&sums)[2 * kHalfSums]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t first = c.warp / 4, count = chunks(c);
  MK_ROLLED for (uint32_t k = first; k < count; k += 2) {
    wait_stage_full_warp(c, k);
    const uint32_t stage = k % DividedTile::kStages;
    const uint64_t a = k_major(DividedTile::address_a(c, stage), Swizzle::k128B);
    const uint64_t b = kTransB ? n_major(DividedTile::address_b(c, stage), Swizzle::k128B, 8192)
                               : k_major(DividedTile::address_b(c, stage), Swizzle::k128B);
    ptx::wgmma_fence();
    MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step)
        ptx::wgmma<In, DividedTile::kColumns, kTransB>(sums, advance(a, step * k_step_k_major()),
                                                       advance(b, step * kStepB), true);
    ptx::wgmma_commit_group();
    if (k > first) {
      ptx::wgmma_wait_group<1>();
      release_divided_chunk(c, k - 2, count);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(sums);
  if (first < count) release_divided_chunk(c, (count - 1 - first) / 2 * 2 + first, count);
}

/// acc[0 .. kHalfSums) = this warpgroup's half of the tile's columns, summed over both warpgroups. The even chunks' sum
/// comes first whoever adds, so that a result does not depend on which half it is in.
template <uint32_t kCount, class B>
MK_DEVICE void exchange_halves(Context<B>& c, const Lanes<float> (&sums)[2 * kHalfSums], Lanes<float> (&acc)[kCount]) {
  const bool upper = c.warp >= 4;
  // Sixteen bytes a lane and turn: warp w's area holds what its partner, w +- 4, wrote.
  constexpr uint32_t kWarpBytes = kHalfSums * 4 * device::kWarpLanes;
  wait_page_warp(c, DividedTile::kPageSums);
  const uint32_t page = c.page_address(DividedTile::kPageSums);
  const Lanes<uint32_t> mine = device::lane_index() * 16 + (page + c.warp * kWarpBytes);
  const Lanes<uint32_t> partners = device::lane_index() * 16 + (page + (c.warp ^ 4u) * kWarpBytes);
  if (!c.aborted) {
    MK_UNROLL for (uint32_t i = 0; i < kHalfSums; i += 4) {
      device::Words<4> words;
      MK_UNROLL for (uint32_t j = 0; j < 4; ++j) words.w[j] =
          device::bit_cast<uint32_t>(device::select(Lanes<bool>(upper), sums[i + j], sums[kHalfSums + i + j]));
      ptx::st_shared_v4(partners + i * 4 * device::kWarpLanes, words);
    }
  }
  sync_consumers(c);
  if (c.aborted) return;
  MK_UNROLL for (uint32_t i = 0; i < kHalfSums; i += 4) {
    const device::Words<4> words = ptx::ld_shared_v4(mine + i * 4 * device::kWarpLanes);
    MK_UNROLL for (uint32_t j = 0; j < 4; ++j) acc[i + j] =
        device::select(Lanes<bool>(upper), sums[kHalfSums + i + j], sums[i + j]) + device::bit_cast<float>(words.w[j]);
  }
  ptx::fence_proxy_async_shared_cta();  // ordinary accesses, before the page's next bulk load (row 3)
  device::one_lane([&] { finish_page(c, DividedTile::kPageSums, 1); });
}

/// The whole product of a divided instruction: acc's first kHalfSums are this warp's part.
template <uint32_t kCount, class B>
MK_DEVICE void multiply_divided(Context<B>& c, const Kind& kind, Lanes<float> (&acc)[kCount]) {
  Lanes<float> sums[2 * kHalfSums];
  MK_UNROLL for (uint32_t i = 0; i < 2 * kHalfSums; ++i) sums[i] = 0.0f;
  if (kind.n_major) {
    if (kind.f16)
      multiply_chunks<device::F16, true>(c, sums);
    else
      multiply_chunks<device::Bf16, true>(c, sums);
  } else {
    if (kind.f16)
      multiply_chunks<device::F16, false>(c, sums);
    else
      multiply_chunks<device::Bf16, false>(c, sums);
  }
  exchange_halves(c, sums, acc);
}

}  // namespace megakittens::ops::sm90
