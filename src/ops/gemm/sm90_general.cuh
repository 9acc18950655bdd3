// Hopper's products of operands that no tensor map describes, and of fp32: the consumer warps bring both by ordinary
// loads, 128 x 128 at a time.
#pragma once

#include "ops/gemm/exact.cuh"
#include "ops/gemm/sm90_tiles.cuh"

namespace megakittens::ops::sm90 {

/// What they take of the pages is what one stage of this tile takes.
inline constexpr Tile kGeneralTile = gemm::tile_of(gemm::TileName::gemm);
static_assert(kGeneralTile.rows == gemm::kGeneralRows && kGeneralTile.columns == gemm::kGeneralColumns);
/// They multiply 128 x 128 at once: sums of 256 columns cannot be staged unless they are rounded first.
inline constexpr uint32_t kGeneralPart = 128;
/// Their two pages: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = kGeneralTile.page_a(0), kGeneralPageB = kGeneralTile.page_b(0);

/// Both operands' next 64 of K by ordinary loads, K contiguous in shared memory. All consumer warps.
template <class B>
MK_DEVICE void stage_chunk(Context<B>& c, uint32_t k, int32_t first) {
  if (!c.aborted) {
    const int32_t depth = static_cast<int32_t>(k * gemm::kBlock);
    stage_16bit(c, matrix_a(c), c.index(gemm::kRow), depth, gemm::kGeneralRows, c.page_address(kGeneralPageA));
    stage_16bit(c, matrix_b(c), c.index(gemm::kColumn) + first, depth, kGeneralPart, c.page_address(kGeneralPageB));
  }
  ptx::fence_proxy_async_shared_cta();  // ordinary stores, then tensor-core reads (row 6); and row 3 after the last
  sync_consumers(c);
}

/// sums = A * B for columns [first, first + kGeneralPart) of the tile, chunk after chunk.
template <class In, class B>
MK_DEVICE void multiply_staged(Context<B>& c, int32_t first, Lanes<float> (&sums)[kGeneralPart / 2]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  const uint32_t upper = c.warp / 4 * kPartRows * gemm::kBlockRowBytes, count = gemm::fills<kGeneralTile>(c);
  MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
    stage_chunk(c, k, first);
    const uint64_t a = k_major(c.page_address(kGeneralPageA) + upper, Swizzle::k128B);
    const uint64_t b = k_major(c.page_address(kGeneralPageB), Swizzle::k128B);
    ptx::wgmma_fence();  // row 25
    MK_UNROLL for (uint32_t step = 0; step < gemm::kBlock / 16; ++step)
        ptx::wgmma<In, static_cast<int>(kGeneralPart), false>(sums, advance(a, step * k_step_k_major()),
                                                              advance(b, step * k_step_k_major()), true);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    sync_consumers(c);
  }
  ptx::keep_in_order(sums);
}

/// A part of a general instruction: its sums, staged.
template <class B>
MK_DEVICE void run_general(Context<B>& c, const Kind& kind, int32_t first) {
  Lanes<float> sums[kGeneralPart / 2];
  MK_UNROLL for (uint32_t i = 0; i < kGeneralPart / 2; ++i) sums[i] = 0.0f;
  if (kind.exact)
    exact::multiply<static_cast<int>(kGeneralPart)>(c, matrix_a(c), matrix_b(c), c.page_address(kGeneralPageA),
                                                    c.page_address(kGeneralPageB), sums, first);
  else if (kind.f16)
    multiply_staged<device::F16>(c, first, sums);
  else
    multiply_staged<device::Bf16>(c, first, sums);
  staged::put<gemm::kGeneralStagingPages>(c, first, sums);
}

template <class B>
MK_DEVICE void begin_general(Context<B>& c) {
  wait_stage_full_warp(c, 0);
  wait_page_warp(c, kGeneralPageA);
  wait_page_warp(c, kGeneralPageB);
}
template <class B>
MK_DEVICE void end_general(Context<B>& c) {
  device::speak_for_warp([&](uint32_t arrivals) {
    free_stage(c, 0, arrivals);
    finish_page(c, kGeneralPageA, arrivals);
    finish_page(c, kGeneralPageB, arrivals);
  });
}

}  // namespace megakittens::ops::sm90
