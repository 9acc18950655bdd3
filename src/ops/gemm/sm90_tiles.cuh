// Hopper's loop for all tiles but the largest. A warpgroup multiplies 64 rows and 64 of K a stage: its half of the
// rows, or all of them and its half of the stage's K, so that small products keep more SMs busy and the loading lane
// keeps up. In a stage: A as blocks of 64 k, all rows each. B K-major as blocks of 64 k, all columns each; N-major as
// blocks of 64 columns, all k each.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/operands.cuh"
#include "ops/gemm/short_epilogue.cuh"
#include "ops/gemm/staged_epilogue.cuh"
#include "ops/gemm/staging.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using device::Lanes;
using gemm::Kind;
using gemm::Tile;

inline constexpr uint32_t kPartRows = 64;  ///< that a warpgroup multiplies

/// A warpgroup's sums of a tile, as numbers of a lane; those that it keeps are of `kKeptColumns`.
template <Tile kTile>
inline constexpr uint32_t kSums = kTile.columns / 2;
template <Tile kTile>
inline constexpr uint32_t kKeptColumns = kTile.divided() ? kTile.columns / 2 : kTile.columns;
template <Tile kTile>
inline constexpr uint32_t kKeptSums = kKeptColumns<kTile> / 2;

/// The warpgroup's products over fill k of a stage have retired: the stage and, where it was the last in them, its
/// pages are free (row 4). One lane speaks for its warpgroup, whose products retire together.
/// Staged: a page that stages sums stays.
template <Tile kTile, class B>
MK_DEVICE void release_stage(Context<B>& c, uint32_t k, uint32_t count, bool staged) {
  device::speak_for_warpgroup(c, [&](uint32_t arrivals) {
    free_stage(c, k, arrivals);
    const uint32_t stage = k % kTile.stages;
    if (kTile.last_in_page_b(k, count)) finish_page(c, kTile.page_b(stage), arrivals);
    if constexpr (!kTile.together())
      if (kTile.last_in_page_a(k, count) && !(staged && kTile.stages_in(kTile.page_a(stage))))
        finish_page(c, kTile.page_a(stage), arrivals);
  });
}

/// sums += A * B over the warpgroup's part of every stage. The last stage is left to the caller to release.
template <class In, bool kTransB, Tile kTile, class B>
MK_DEVICE void multiply_part(Context<B>& c, bool staged, Lanes<float> (&sums)[kSums<kTile>]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kRowBytes = gemm::kBlockRowBytes;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  // From what the lower warpgroup multiplies to what the upper one does: other rows, or other k of both operands.
  constexpr uint32_t kUpperA = kPartRows * kRowBytes;
  constexpr uint32_t kUpperB = !kTile.divided() ? 0 : (kTransB ? gemm::kBlock : kTile.columns) * kRowBytes;
  const uint32_t warpgroup = c.warp / 4, count = gemm::fills<kTile>(c), pages = c.page_map();
  auto a_of = [&](uint32_t stage) MK_INLINE {
    return k_major(gemm::address_a<kTile>(c, pages, stage) + warpgroup * kUpperA, Swizzle::k128B);
  };
  auto b_of = [&](uint32_t stage) MK_INLINE {
    const uint32_t at = gemm::address_b<kTile>(c, pages, stage) + warpgroup * kUpperB;
    return kTransB ? n_major(at, Swizzle::k128B, kTile.depth * kRowBytes) : k_major(at, Swizzle::k128B);
  };
  uint32_t stage = 0;
  uint64_t a = a_of(stage), b = b_of(stage);
  MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
    wait_stage_full_warp(c, k);
    ptx::wgmma_fence();  // row 25
    MK_UNROLL for (uint32_t step = 0; step < gemm::kBlock / 16; ++step)
        ptx::wgmma<In, static_cast<int>(kTile.columns), kTransB>(sums, advance(a, step * k_step_k_major()),
                                                                 advance(b, step * kStepB), true);
    ptx::wgmma_commit_group();
    // Found out while products run: between a full stage and its products every instruction counts.
    stage = stage + 1 == kTile.stages ? 0 : stage + 1;
    a = a_of(stage);
    b = b_of(stage);
    if (k > 0) {
      ptx::wgmma_wait_group<1>();
      release_stage<kTile>(c, k - 1, count, staged);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(sums);
}

/// The same for the types and layouts that there are, from zeros on.
template <Tile kTile, class B>
MK_DEVICE void multiply_part(Context<B>& c, const Kind& kind, bool staged, Lanes<float> (&sums)[kSums<kTile>]) {
  MK_UNROLL for (uint32_t i = 0; i < kSums<kTile>; ++i) sums[i] = 0.0f;
  if (kind.n_major) {
    if (kind.f16)
      multiply_part<device::F16, true, kTile>(c, staged, sums);
    else
      multiply_part<device::Bf16, true, kTile>(c, staged, sums);
  } else {
    if (kind.f16)
      multiply_part<device::F16, false, kTile>(c, staged, sums);
    else
      multiply_part<device::Bf16, false, kTile>(c, staged, sums);
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
template <Tile kTile, class B>
MK_DEVICE void exchange_halves(Context<B>& c, const Lanes<float> (&sums)[kSums<kTile>],
                               Lanes<float> (&half)[kKeptSums<kTile>]) {
  constexpr uint32_t kHalf = kKeptSums<kTile>, kWarpBytes = staged::kWarpBytes;
  static_assert(kHalf * 4 * device::kWarpLanes <= kWarpBytes);
  const uint32_t page = c.page_address(gemm::kSumsPage), count = gemm::fills<kTile>(c);
  const Lanes<uint32_t> lane = device::lane_index() * 16;
  const bool lower = c.warp < 4;  // keeps the first columns, sends the others
  if (!c.aborted) {
    const Lanes<uint32_t> to = lane + (page + (c.warp ^ 4u) * kWarpBytes);
    if (lower)
      send_sums<kHalf>(to, sums);
    else
      send_sums<0>(to, sums);
  }
  meet_consumers(c);
  if (count > 0) release_stage<kTile>(c, count - 1, count, false);
  await_consumers(c);
  MK_UNROLL for (uint32_t i = 0; i < kHalf; ++i) half[i] = device::select(Lanes<bool>(lower), sums[i], sums[kHalf + i]);
  if (c.aborted) return;
  const Lanes<uint32_t> from = lane + (page + c.warp * kWarpBytes);
  MK_UNROLL for (uint32_t i = 0; i < kHalf; i += 4) {
    const device::Words<4> words = ptx::ld_shared_v4(from + i * 4 * device::kWarpLanes);
    MK_UNROLL for (uint32_t j = 0; j < 4; ++j) half[i + j] = half[i + j] + device::bit_cast<float>(words.w[j]);
  }
}

/// What the warp stores of the tile.
template <Tile kTile, class B>
MK_DEVICE TilePart part_of(const Context<B>& c) {
  constexpr auto kColumns = static_cast<int32_t>(kKeptColumns<kTile>);
  if constexpr (kTile.divided()) return {c.warp % 4 * 16, static_cast<int32_t>(c.warp / 4) * kColumns, kColumns};
  return {c.warp * 16, 0, kColumns};
}

/// The instruction's sums go through staging: its code has no short epilogue, or its tile is cut off.
template <Tile kTile, class B>
MK_DEVICE bool is_staged(const Context<B>& c) {
  return !ShortEpilogue<kKeptColumns<kTile>>::serves(c, kTile.rows, kTile.columns);
}

/// A whole instruction. Where its code has no short epilogue the result is false, and the sums lie in the warp's
/// staging in the form that `type` says.
template <Tile kTile, class B>
MK_DEVICE bool run_tile(Context<B>& c, const Kind& kind) {
  const TilePart part = part_of<kTile>(c);
  ShortEpilogue<kKeptColumns<kTile>> epilogue;
  epilogue.prepare(c, part, kTile.rows, kTile.columns);
  if constexpr (kTile.divided()) wait_page_warp(c, gemm::kSumsPage);
  wait_stage_full_warp(c, 0);
  if (c.aborted) epilogue.add = false;
  epilogue.prefetch_before();
  auto stored = [&](auto& sums) MK_INLINE {
    if (!epilogue.usable) {
      staged::put<kTile.staging_pages()>(c, part.column, sums);
      return false;
    }
    epilogue.prefetch_after();
    wait_writable_warp(c);
    if (!c.aborted) epilogue.store(c, sums, part);
    return true;
  };
  Lanes<float> sums[kSums<kTile>];  // of its own: products of two widths in one array are serialised (C7511)
  if constexpr (kTile.divided()) {
    Lanes<float> half[kKeptSums<kTile>];
    multiply_part<kTile>(c, kind, false, sums);
    exchange_halves<kTile>(c, sums, half);
    return stored(half);
  } else {
    multiply_part<kTile>(c, kind, !epilogue.usable, sums);
    const uint32_t count = gemm::fills<kTile>(c);
    if (count > 0) release_stage<kTile>(c, count - 1, count, !epilogue.usable);
    return stored(sums);
  }
}

/// Gives the last `pages` pages, of sums and staging, on, when the tile's counters need not wait for it.
template <class B>
MK_DEVICE void finish_sums(Context<B>& c, uint32_t pages) {
  ptx::fence_proxy_async_shared_cta();  // ordinary accesses, before the page's next bulk load (row 3)
  device::speak_for_warp([&](uint32_t arrivals) {
    MK_ROLLED for (uint32_t i = 0; i < pages; ++i) finish_page(c, gemm::kSumsPage - i, arrivals);
  });
}

}  // namespace megakittens::ops::sm90
