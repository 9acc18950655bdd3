// Hopper's device half of all GEMM icodes. Here: both warpgroups on one 128 x 256 tile, four stages of 64 along K.
// Smaller products have smaller tiles (sm90_medium.cuh, sm90_divided.cuh). Main loops differ by type and layout; the
// epilogue is one. Page 6 is passed on.
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/epilogue.cuh"
#include "ops/gemm/exact.cuh"
#include "ops/gemm/operands.cuh"
#include "ops/gemm/short_epilogue.cuh"
#include "ops/gemm/sm90_copies.cuh"
#include "ops/gemm/sm90_divided.cuh"
#include "ops/gemm/sm90_medium.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using device::Lanes;
using gemm::Kind;

inline constexpr uint32_t kRowsA = 128, kColumnsB = 256;
inline constexpr uint32_t kAccumulators = kColumnsB / 2;  ///< a lane's share of 64 x 256

using WideTile = DividedTile<gemm::kDividedColumns, Pages>;
using NarrowTile = DividedTile<gemm::kNarrowColumns, StagePages>;

struct Tile : Pages {
  static constexpr uint32_t kRows = kRowsA, kColumns = kColumnsB, kDepth = gemm::kStageDepth;
};

/// Both operands' next 64 of K by ordinary loads, K contiguous in shared memory. All consumer warps.
template <class B>
MK_DEVICE void stage_chunk(Context<B>& c, uint32_t k) {
  if (!c.aborted) {
    const int32_t depth = static_cast<int32_t>(k) * gemm::kStageDepth;
    const uint32_t pages = c.page_map();
    stage_16bit(c, matrix_a(c), c.index(gemm::kRow), depth, kRowsA, address_a<Tile>(c, pages, 0));
    stage_16bit(c, matrix_b(c), c.index(gemm::kColumn), depth, kColumnsB, address_b<Tile>(c, pages, 0));
  }
  ptx::fence_proxy_async_shared_cta();  // ordinary stores, then tensor-core reads (row 6); and row 3 after the last
  sync_consumers(c);
}

/// acc = A * B for the warpgroup's 64 rows. Staged: chunks come by stage_chunk, one at a time. One loop a kind: with
/// the kinds' products in branches of one loop the assembler serialises them (C7520). The first chunk stands before the
/// loop because its first product overwrites the accumulators, which therefore need no zeros; the assembler must see
/// that it never reads them, or it keeps them alive between instructions.
template <class In, bool kTransB, class B>
MK_DEVICE void multiply(Context<B>& c, bool staged, Lanes<float> (&acc)[kAccumulators]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t warpgroup = c.warp / 4, count = gemm::stages<Tile>(c);
  auto chunk = [&](uint32_t k, bool first) MK_INLINE {
    if (staged)
      stage_chunk(c, k);
    else
      wait_stage_full_warp(c, k);
    const uint32_t stage = staged ? 0 : k % Tile::kStages;
    const uint32_t pages = c.page_map(), at_b = address_b<Tile>(c, pages, stage);
    const uint64_t a = k_major(address_a<Tile>(c, pages, stage) + warpgroup * (Tile::kBytesA / 2), Swizzle::k128B);
    const uint64_t b = kTransB ? n_major(at_b, Swizzle::k128B, 8192) : k_major(at_b, Swizzle::k128B);
    ptx::wgmma_fence();  // row 25
    MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step) ptx::wgmma<In, kColumnsB, kTransB>(
        acc, advance(a, step * k_step_k_major()), advance(b, step * kStepB), !first || step > 0);
    ptx::wgmma_commit_group();
    if (staged) {
      ptx::wgmma_wait_group<0>();
      sync_consumers(c);
    }
  };
  chunk(0, true);
  MK_ROLLED for (uint32_t k = 1; k < count; ++k) {
    chunk(k, false);
    if (!staged) {
      ptx::wgmma_wait_group<1>();
      release_stage<Tile>(c, k - 1, count);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(acc);
  if (!staged) release_stage<Tile>(c, count - 1, count);
}

/// The two pages of the general types: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = Pages::kFirstPageA, kGeneralPageB = 0;

struct Gemm : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const Context<B>& c) const {
    const Kind kind(c);
    return kind.general ? 1 : kind.divided ? gemm::stages<WideTile>(c) : gemm::stages<Tile>(c);
  }

  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
    const Kind kind(c);
    if (kind.general)
      gemm::bring_nothing(c, dependent);
    else if (kind.narrow)
      bring_together<NarrowTile>(c, dependent);
    else if (kind.divided)
      gemm::bring<WideTile>(c, dependent);
    else if (kind.medium)
      gemm::bring<MediumTile>(c, dependent);
    else
      gemm::bring<Tile>(c, dependent);
  }

  /// Passes on the pages that this instruction does not use.
  template <class B>
  MK_DEVICE void store(Context<B>& c) const {
    const Kind kind(c);
    const uint32_t count = ring_stages(c);
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      const bool used =
          kind.general   ? lid == kGeneralPageA || lid == kGeneralPageB
          : kind.divided ? lid == kPageSums || (kind.narrow ? NarrowTile::used(lid, count) : WideTile::used(lid, count))
          : kind.medium  ? MediumTile::used(lid, count)
                         : Tile::used(lid, count);
      if (used) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    const Kind kind(c);
    // Accumulators of their own, and the byte code's machine twice: where small tiles shared the large one's
    // accumulators the assembler serialised its products (C7511).
    if (kind.divided || kind.medium) {
      Lanes<float> acc[MediumTile::kSums];
      const bool stored = kind.narrow    ? run_divided<NarrowTile>(c, kind, acc)
                          : kind.divided ? run_divided<WideTile>(c, kind, acc)
                                         : run_medium(c, kind, acc);
      if (stored) return;
      const TilePart part = kind.narrow    ? divided_part<NarrowTile>(c)
                            : kind.divided ? divided_part<WideTile>(c)
                                           : medium_part(c);
      wait_writable_warp(c);
      store_accumulators(c, acc, part);
      return;
    }
    Lanes<float> acc[kAccumulators];
    if (run_whole(c, kind, acc)) return;
    wait_writable_warp(c);
    store_accumulators(c, acc, whole_part(c));
  }

  template <class B>
  MK_DEVICE void consumed(Context<B>& c) const {
    if (Kind(c).divided) finish_sums(c);
  }

 private:
  template <class B>
  static MK_DEVICE TilePart whole_part(const Context<B>& c) {
    return {c.warp * 16, 0, kColumnsB};
  }

  /// A 128 x 256 tile but for code that has no short epilogue: then false, and `acc` is the warp's part.
  template <class B>
  static MK_DEVICE bool run_whole(Context<B>& c, const Kind& kind, Lanes<float> (&acc)[kAccumulators]) {
    const TilePart part = whole_part(c);
    ShortEpilogue<kColumnsB> epilogue;
    epilogue.prepare(c, part, kRowsA, kColumnsB);
    wait_stage_full_warp(c, 0);
    if (c.aborted) epilogue.add = false;
    epilogue.prefetch_before();
    if (kind.general) {
      wait_page_warp(c, kGeneralPageA);
      wait_page_warp(c, kGeneralPageB);
    }
    if (kind.exact) {
      MK_UNROLL for (uint32_t i = 0; i < kAccumulators; ++i) acc[i] = 0.0f;
      exact::multiply<kColumnsB>(c, matrix_a(c), matrix_b(c), c.page_address(kGeneralPageA),
                                 c.page_address(kGeneralPageB), acc);
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
      device::speak_for_warp([&](uint32_t arrivals) {
        free_stage(c, 0, arrivals);
        finish_page(c, kGeneralPageA, arrivals);
        finish_page(c, kGeneralPageB, arrivals);
      });
    }
    if (!epilogue.usable) return false;
    epilogue.prefetch_after();
    wait_writable_warp(c);
    if (!c.aborted) epilogue.store(c, acc, part);
    return true;
  }
};

}  // namespace megakittens::ops::sm90
