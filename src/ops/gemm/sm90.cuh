// Hopper's device half of all GEMM icodes. Here: both warpgroups on one 128 x 256 tile, four stages of 64 along K.
// Other tiles: sm90_tiles.cuh. Main loops differ by type and layout; the epilogue is one.
#pragma once

#include "ops/gemm/sm90_copies.cuh"
#include "ops/gemm/sm90_general.cuh"
#include "ops/gemm/sm90_tiles.cuh"

namespace megakittens::ops::sm90 {

using gemm::TileName;

/// The largest.
inline constexpr TileName kWholeName = TileName::gemm;
inline constexpr Tile kWhole = gemm::tile_of(kWholeName);

/// Calls f with the instruction's tile as a template argument: the largest where it is none of the others or the type
/// is general.
template <uint32_t kUntil = gemm::kTileCount, class F>
MK_DEVICE auto with_tile(const Kind& kind, F&& f) {
  if constexpr (kUntil == 0) {
    return f.template operator()<kWhole>();
  } else {
    constexpr Tile kTile = gemm::kTiles[kUntil - 1];
    if constexpr (kTile.cores == gemm::Cores::wgmma && kTile != kWhole) {
      if (!kind.general && kind.tile == static_cast<TileName>(kUntil - 1)) return f.template operator()<kTile>();
    }
    return with_tile<kUntil - 1>(kind, f);
  }
}

/// acc = A * B for the warpgroup's 64 rows. One loop a kind: with the kinds' products in branches of one loop the
/// assembler serialises them (C7520). The first chunk stands before the
/// loop because its first product overwrites the accumulators, which therefore need no zeros; the assembler must see
/// that it never reads them, or it keeps them alive between instructions.
template <class In, bool kTransB, class B>
MK_DEVICE void multiply(Context<B>& c, bool staged, Lanes<float> (&acc)[kSums<kWhole>]) {
  using namespace megakittens::sm90;
  using device::Swizzle;
  constexpr uint32_t kStepB = kTransB ? k_step_n_major(Swizzle::k128B) : k_step_k_major();
  const uint32_t warpgroup = c.warp / 4, count = gemm::fills<kWhole>(c);
  auto chunk = [&](uint32_t k, bool first) MK_INLINE {
    wait_stage_full_warp(c, k);
    const uint32_t stage = k % kWhole.stages;
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
  };
  chunk(0, true);
  MK_ROLLED for (uint32_t k = 1; k < count; ++k) {
    chunk(k, false);
    ptx::wgmma_wait_group<1>();
    release_stage<kWhole>(c, k - 1, count, staged);
  }
  ptx::wgmma_wait_group<0>();
  ptx::keep_in_order(acc);
  release_stage<kWhole>(c, count - 1, count, staged);
}

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
    uint32_t used = with_tile(gemm::kind_of(c), [&]<Tile kTile>() MK_INLINE { return kTile.used_pages(count); });
    MK_ROLLED for (uint32_t i = 0, last = last_pages(c); i < last; ++i) used |= 1u << (gemm::kSumsPage - i);
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      if ((used >> lid & 1) != 0) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    if (gemm::kind_of(c).general) begin_general(c);
    // What the loop carries is not alive in whole tiles, which have no registers for it.
    MK_ROLLED for (int32_t first = 0;; first += static_cast<int32_t>(kGeneralPart)) {
      const Kind kind = gemm::kind_of(c);
      if (kind.general) {
        run_general(c, kind, first);
      } else {
        // In this order the largest tile's code comes first, as this compiler lays it out: with small tiles' before it
        // a product of a single round took 3 % longer on an H200 (its launch waits for instructions).
        if (kind.tile == kWholeName ? run_whole(c, kind) : with_tile(kind, [&]<Tile kTile>() MK_INLINE {
              if constexpr (kTile == kWhole) return true;  // never
              return run_tile<kTile>(c, kind);
            }))
          return;
        first = 0;
      }
      staged::store(c, kind.general ? TilePart{c.warp * 16, first, static_cast<int32_t>(kGeneralPart)}
                                    : with_tile(kind, [&]<Tile kTile>() MK_INLINE { return part_of<kTile>(c); }));
      if (!kind.general) return;
      if (first + static_cast<int32_t>(kGeneralPart) >= c.index(gemm::kColumns)) break;
    }
    end_general(c);
  }

  template <class B>
  MK_DEVICE void consumed(Context<B>& c) const {
    const uint32_t last = last_pages(c);
    if (last != 0) finish_sums(c, last);
  }

 private:
  /// So many of the last pages are the consumers', for sums and staging.
  template <class B>
  static MK_DEVICE uint32_t last_pages(const Context<B>& c) {
    const Kind kind = gemm::kind_of(c);
    if (kind.general) return gemm::kGeneralStagingPages;
    return with_tile(kind, [&]<Tile kTile>() MK_INLINE {
      return kTile.divided() ? 1 : is_staged<kTile>(c) ? kTile.staging_pages() : 0;
    });
  }

  /// A 128 x 256 tile, as run_tile does the others.
  template <class B>
  static MK_DEVICE bool run_whole(Context<B>& c, const Kind& kind) {
    Lanes<float> acc[kSums<kWhole>];
    const TilePart part = part_of<kWhole>(c);
    ShortEpilogue<kWhole.columns> epilogue;
    epilogue.prepare(c, part, kWhole.rows, kWhole.columns);
    wait_stage_full_warp(c, 0);
    if (c.aborted) epilogue.add = false;
    epilogue.prefetch_before();
    if (kind.n_major) {
      if (kind.f16)
        multiply<device::F16, true>(c, !epilogue.usable, acc);
      else
        multiply<device::Bf16, true>(c, !epilogue.usable, acc);
    } else {
      if (kind.f16)
        multiply<device::F16, false>(c, !epilogue.usable, acc);
      else
        multiply<device::Bf16, false>(c, !epilogue.usable, acc);
    }
    if (!epilogue.usable) {
      staged::put<kWhole.staging_pages()>(c, part.column, acc);
      return false;
    }
    epilogue.prefetch_after();
    wait_writable_warp(c);
    if (!c.aborted) epilogue.store(c, acc, part);
    return true;
  }
};

}  // namespace megakittens::ops::sm90
