// Hopper's device half of all GEMM icodes. Here: both warpgroups on one 128 x 256 tile, four stages of 64 along K.
// Other tiles: sm90_tiles.cuh. Main loops differ by type and layout; the epilogue is one.
#pragma once

#include "ops/gemm/exact.cuh"
#include "ops/gemm/sm90_copies.cuh"
#include "ops/gemm/sm90_tiles.cuh"

namespace megakittens::ops::sm90 {

using gemm::TileName;

/// The largest, which the general types have too, and the largest of those that share smaller accumulators.
inline constexpr TileName kWholeName = TileName::gemm, kSmallName = TileName::gemm_medium;
inline constexpr Tile kWhole = gemm::tile_of(kWholeName), kSmall = gemm::tile_of(kSmallName);
static_assert(kWhole.rows == gemm::kGeneralRows && kWhole.columns == gemm::kGeneralColumns);

/// Calls f with the instruction's tile as a template argument: one that has no more sums than kLast, and kLast where it
/// is none of the others or the type is general.
template <TileName kLast = kWholeName, uint32_t kUntil = gemm::kTileCount, class F>
MK_DEVICE auto with_tile(const Kind& kind, F&& f) {
  constexpr Tile kLastTile = gemm::tile_of(kLast);
  if constexpr (kUntil == 0) {
    return f.template operator()<kLastTile>();
  } else {
    constexpr Tile kTile = gemm::kTiles[kUntil - 1];
    if constexpr (kTile.cores == gemm::Cores::wgmma && kTile != kLastTile && kSums<kTile> <= kSums<kLastTile>) {
      if (!kind.general && kind.tile == static_cast<TileName>(kUntil - 1)) return f.template operator()<kTile>();
    }
    return with_tile<kLast, kUntil - 1>(kind, f);
  }
}

/// Both operands' next 64 of K by ordinary loads, K contiguous in shared memory. All consumer warps.
template <class B>
MK_DEVICE void stage_chunk(Context<B>& c, uint32_t k) {
  if (!c.aborted) {
    const int32_t depth = static_cast<int32_t>(k * kWhole.depth);
    const uint32_t pages = c.page_map();
    stage_16bit(c, matrix_a(c), c.index(gemm::kRow), depth, kWhole.rows, gemm::address_a<kWhole>(c, pages, 0));
    stage_16bit(c, matrix_b(c), c.index(gemm::kColumn), depth, kWhole.columns, gemm::address_b<kWhole>(c, pages, 0));
  }
  ptx::fence_proxy_async_shared_cta();  // ordinary stores, then tensor-core reads (row 6); and row 3 after the last
  sync_consumers(c);
}

/// acc = A * B for the warpgroup's 64 rows. Staged: chunks come by stage_chunk, one at a time. One loop a kind: with
/// the kinds' products in branches of one loop the assembler serialises them (C7520). The first chunk stands before the
/// loop because its first product overwrites the accumulators, which therefore need no zeros; the assembler must see
/// that it never reads them, or it keeps them alive between instructions.
template <class In, bool kTransB, class B>
MK_DEVICE void multiply(Context<B>& c, bool staged, Lanes<float> (&acc)[kSums<kWhole>]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t warpgroup = c.warp / 4, count = gemm::fills<kWhole>(c);
  auto chunk = [&](uint32_t k, bool first) MK_INLINE {
    if (staged)
      stage_chunk(c, k);
    else
      wait_stage_full_warp(c, k);
    const uint32_t stage = staged ? 0 : k % kWhole.stages;
    const uint32_t pages = c.page_map(), at_b = gemm::address_b<kWhole>(c, pages, stage);
    const uint64_t a =
        k_major(gemm::address_a<kWhole>(c, pages, stage) + warpgroup * (kWhole.bytes_a() / 2), Swizzle::k128B);
    const uint64_t b =
        kTransB ? n_major(at_b, Swizzle::k128B, kWhole.depth * gemm::kBlockRowBytes) : k_major(at_b, Swizzle::k128B);
    ptx::wgmma_fence();  // row 25
    MK_UNROLL for (uint32_t step = 0; step < kWhole.depth / 16; ++step)
        ptx::wgmma<In, static_cast<int>(kWhole.columns), kTransB>(acc, advance(a, step * k_step_k_major()),
                                                                  advance(b, step * kStepB), !first || step > 0);
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
      release_stage<kWhole>(c, k - 1, count);
    }
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(acc);
  if (!staged) release_stage<kWhole>(c, count - 1, count);
}

/// The two pages of the general types: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = kWhole.page_a(0), kGeneralPageB = kWhole.page_b(0);

struct Gemm : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const Context<B>& c) const {
    const Kind kind = gemm::kind_of(c);
    if (kind.general) return 1;
    return with_tile(kind, [&]<Tile kTile>() MK_INLINE { return gemm::fills<kTile>(c); });
  }

  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
    const Kind kind = gemm::kind_of(c);
    if (kind.general) return gemm::bring_nothing(c, dependent);
    with_tile(kind, [&]<Tile kTile>() MK_INLINE {
      if constexpr (kTile.together() && kTile.divided())
        bring_together<kTile>(c, dependent);
      else
        gemm::bring<kTile>(c, dependent);
    });
  }

  /// Passes on the pages that this instruction does not use.
  template <class B>
  MK_DEVICE void store(Context<B>& c) const {
    const uint32_t count = ring_stages(c);
    const uint32_t used = with_tile(gemm::kind_of(c), [&]<Tile kTile>() MK_INLINE { return kTile.used_pages(count); });
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      if ((used >> lid & 1) != 0) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    const Kind kind = gemm::kind_of(c);
    // In this order the largest tile's code comes first, as this compiler lays it out: with small tiles' before it a
    // product of a single round took 3 % longer on an H200 (its launch waits for instructions).
    if (!kind.general && kind.tile != kWholeName) return consume_others(c, kind);
    consume_wide<kWhole>(c, kind);
  }

  template <class B>
  MK_DEVICE void consumed(Context<B>& c) const {
    if (with_tile(gemm::kind_of(c), [&]<Tile kTile>() MK_INLINE { return kTile.divided(); })) finish_sums(c);
  }

 private:
  /// Small tiles share accumulators, and the byte code's machine. Each wide one has its own: where tiles of other
  /// widths shared the largest one's the assembler serialised products (C7511).
  template <class B>
  static MK_DEVICE void consume_others(Context<B>& c, const Kind& kind) {
    const bool wide = with_tile(kind, [&]<Tile kTile>() MK_INLINE {
      if constexpr (kSums<kTile> > kSums<kSmall> && kTile != kWhole) {
        consume_wide<kTile>(c, kind);
        return true;
      }
      return false;
    });
    if (wide) return;
    Lanes<float> acc[kSums<kSmall>];
    // Every way through here sets them: else they would live between instructions (C7512).
    if (with_tile<kSmallName>(kind, [&]<Tile kTile>() MK_INLINE { return run_tile<kTile>(c, kind, acc); })) return;
    const TilePart part = with_tile<kSmallName>(kind, [&]<Tile kTile>() MK_INLINE { return part_of<kTile>(c); });
    wait_writable_warp(c);
    store_accumulators(c, acc, part);
  }

  template <Tile kTile, class B>
  static MK_DEVICE void consume_wide(Context<B>& c, const Kind& kind) {
    Lanes<float> acc[kSums<kTile>];
    if constexpr (kTile == kWhole) {
      if (run_whole<kTile>(c, kind, acc)) return;
    } else {
      if (run_tile<kTile>(c, kind, acc)) return;
    }
    wait_writable_warp(c);
    store_accumulators(c, acc, part_of<kTile>(c));
  }

  /// A 128 x 256 tile but for code that has no short epilogue: then false, and `acc` is the warp's part.
  template <Tile kTile, class B>
  static MK_DEVICE bool run_whole(Context<B>& c, const Kind& kind, Lanes<float> (&acc)[kSums<kTile>]) {
    const TilePart part = part_of<kWhole>(c);
    ShortEpilogue<kWhole.columns> epilogue;
    epilogue.prepare(c, part, kWhole.rows, kWhole.columns);
    wait_stage_full_warp(c, 0);
    if (c.aborted) epilogue.add = false;
    epilogue.prefetch_before();
    if (kind.general) {
      wait_page_warp(c, kGeneralPageA);
      wait_page_warp(c, kGeneralPageB);
    }
    if (kind.exact) {
      MK_UNROLL for (uint32_t i = 0; i < kSums<kWhole>; ++i) acc[i] = 0.0f;
      exact::multiply<static_cast<int>(kWhole.columns)>(c, matrix_a(c), matrix_b(c), c.page_address(kGeneralPageA),
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
