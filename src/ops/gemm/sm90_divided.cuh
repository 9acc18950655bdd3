// Hopper's loop for small products: 64 x 128 or 64 x 64 tiles, so that more SMs have work, and stages of 128 along K,
// so that the loading lane keeps up. Each warpgroup multiplies its half of every stage's K; at the end each gives the
// other half of its sums, by way of page 6. In a stage: A as two blocks of 64 k, 64 rows each. B K-major as two blocks
// of 64 k, all columns each; N-major as blocks of 64 columns, 128 k each.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/short_epilogue.cuh"
#include "ops/gemm/sm90_pages.cuh"
#include "ops/gemm/staging.cuh"

namespace megakittens::ops::sm90 {

using device::Lanes;
using gemm::Kind;

template <int32_t kTileColumns, class Layout>
struct DividedTile : Layout {
  static constexpr uint32_t kRows = gemm::kDividedRows, kColumns = kTileColumns;
  static constexpr uint32_t kDepth = gemm::kDividedDepth;
  static constexpr uint32_t kHalfBytesA = kRows * 128;     ///< 64 of K
  static constexpr uint32_t kHalfBytesB = kColumns * 128;  ///< K-major
  static constexpr uint32_t kBlockBytesB = kDepth * 128;   ///< N-major: 64 columns
  /// From what the lower warpgroup multiplies to what the upper one does: the other half of K.
  static constexpr uint32_t kUpperA = kHalfBytesA, kUpperB = kHalfBytesB, kUpperNMajorB = 64 * 128;
  static constexpr int32_t kHalfColumns = kTileColumns / 2;
  static constexpr uint32_t kSums = kColumns / 2;                             ///< a lane's share of 64 rows
  static constexpr uint32_t kHalfSums = kHalfColumns / 2;                     ///< and of half the columns
  static constexpr uint32_t kSumsBytes = kHalfSums * 4 * device::kWarpLanes;  ///< a warp's
};

inline constexpr uint32_t kPageSums = 6;

/// sums += A * B over the warpgroup's part of every stage, 64 of K. The last stage is left to the caller to release.
template <class In, bool kTransB, class Tile, class B>
MK_DEVICE void multiply_part(Context<B>& c, Lanes<float> (&sums)[Tile::kSums]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t warpgroup = c.warp / 4, count = gemm::stages<Tile>(c), pages = c.page_map();
  auto a_of = [&](uint32_t stage) MK_INLINE {
    return k_major(address_a<Tile>(c, pages, stage) + warpgroup * Tile::kUpperA, Swizzle::k128B);
  };
  auto b_of = [&](uint32_t stage) MK_INLINE {
    const uint32_t at = address_b<Tile>(c, pages, stage);
    return kTransB ? n_major(at + warpgroup * Tile::kUpperNMajorB, Swizzle::k128B, Tile::kBlockBytesB)
                   : k_major(at + warpgroup * Tile::kUpperB, Swizzle::k128B);
  };
  uint32_t stage = 0;
  uint64_t a = a_of(stage), b = b_of(stage);
  MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
    wait_stage_full_warp(c, k);
    ptx::wgmma_fence();  // row 25
    MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step)
        ptx::wgmma<In, static_cast<int>(Tile::kColumns), kTransB>(sums, advance(a, step * k_step_k_major()),
                                                                  advance(b, step * kStepB), true);
    ptx::wgmma_commit_group();
    // Found out while products run: between a full stage and its products every instruction counts.
    stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
    a = a_of(stage);
    b = b_of(stage);
    if (k > 0) {
      ptx::wgmma_wait_group<1>();
      release_stage<Tile>(c, k - 1, count);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(sums);
}

/// The same for the types and layouts that there are, from zeros on.
template <class Tile, class B>
MK_DEVICE void multiply_part(Context<B>& c, const Kind& kind, Lanes<float> (&sums)[Tile::kSums]) {
  MK_UNROLL for (uint32_t i = 0; i < Tile::kSums; ++i) sums[i] = 0.0f;
  if (kind.n_major) {
    if (kind.f16)
      multiply_part<device::F16, true, Tile>(c, sums);
    else
      multiply_part<device::Bf16, true, Tile>(c, sums);
  } else {
    if (kind.f16)
      multiply_part<device::F16, false, Tile>(c, sums);
    else
      multiply_part<device::Bf16, false, Tile>(c, sums);
  }
}

/// Sends half of the sums, from number kFirst on, to the partner warp, w +- 4. Sixteen bytes a lane and turn.
template <uint32_t kFirst, uint32_t kCount>
MK_DEVICE void send_sums(Lanes<uint32_t> address, const Lanes<float> (&sums)[kCount]) {
  MK_UNROLL for (uint32_t i = 0; i < kCount / 2; i += 4) {
    device::Words<4> words;
    MK_UNROLL for (uint32_t j = 0; j < 4; ++j) words.w[j] = device::bit_cast<uint32_t>(sums[kFirst + i + j]);
    ptx::st_shared_v4(address + i * 4 * device::kWarpLanes, words);
  }
}

/// half = this warpgroup's half of the tile's columns, summed over both warpgroups. The page of the sums is this
/// instruction's already. While the warpgroups wait for each other they release the last stage.
template <class Tile, class B>
MK_DEVICE void exchange_halves(Context<B>& c, const Lanes<float> (&sums)[Tile::kSums],
                               Lanes<float> (&half)[Tile::kHalfSums]) {
  constexpr uint32_t kHalfSums = Tile::kHalfSums;
  const uint32_t page = c.page_address(kPageSums), count = gemm::stages<Tile>(c);
  const Lanes<uint32_t> lane = device::lane_index() * 16;
  const bool lower = c.warp < 4;  // keeps the first columns, sends the others
  if (!c.aborted) {
    const Lanes<uint32_t> to = lane + (page + (c.warp ^ 4u) * Tile::kSumsBytes);
    if (lower)
      send_sums<kHalfSums>(to, sums);
    else
      send_sums<0>(to, sums);
  }
  meet_consumers(c);
  if (count > 0) release_stage<Tile>(c, count - 1, count);
  await_consumers(c);
  MK_UNROLL for (uint32_t i = 0; i < kHalfSums; ++i) half[i] =
      device::select(Lanes<bool>(lower), sums[i], sums[kHalfSums + i]);
  if (c.aborted) return;
  const Lanes<uint32_t> from = lane + (page + c.warp * Tile::kSumsBytes);
  MK_UNROLL for (uint32_t i = 0; i < kHalfSums; i += 4) {
    const device::Words<4> words = ptx::ld_shared_v4(from + i * 4 * device::kWarpLanes);
    MK_UNROLL for (uint32_t j = 0; j < 4; ++j) half[i + j] = half[i + j] + device::bit_cast<float>(words.w[j]);
  }
}

/// The warp's part of the tile after the exchange.
template <class Tile, class B>
MK_DEVICE TilePart divided_part(const Context<B>& c) {
  return {c.warp % 4 * 16, static_cast<int32_t>(c.warp / 4) * Tile::kHalfColumns, Tile::kHalfColumns};
}

/// A divided instruction. Where its code has no short epilogue the result is false, and the warp's part lies in acc.
template <class Tile, uint32_t kCount, class B>
MK_DEVICE bool run_divided(Context<B>& c, const Kind& kind, Lanes<float> (&acc)[kCount]) {
  const TilePart part = divided_part<Tile>(c);
  ShortEpilogue<static_cast<uint32_t>(Tile::kHalfColumns)> epilogue;
  epilogue.prepare(c, part, Tile::kRows, Tile::kColumns);
  wait_page_warp(c, kPageSums);
  wait_stage_full_warp(c, 0);
  if (c.aborted) epilogue.add = false;
  epilogue.prefetch_before();
  Lanes<float> sums[Tile::kSums];
  multiply_part<Tile>(c, kind, sums);
  Lanes<float> half[Tile::kHalfSums];
  exchange_halves<Tile>(c, sums, half);
  if (!epilogue.usable) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) acc[i] =
        i < Tile::kHalfSums ? half[i % Tile::kHalfSums] : Lanes<float>(0.0f);
    return false;
  }
  wait_writable_warp(c);
  if (!c.aborted) epilogue.store(c, half, part);
  return true;
}

/// Gives the page of the sums on, when the tile's counters need not wait for it.
template <class B>
MK_DEVICE void finish_sums(Context<B>& c) {
  ptx::fence_proxy_async_shared_cta();  // ordinary accesses, before the page's next bulk load (row 3)
  device::speak_for_warp([&](uint32_t arrivals) { finish_page(c, kPageSums, arrivals); });
}

}  // namespace megakittens::ops::sm90
