// Blackwell's device half of all GEMM icodes: a 256 x 256 tile in all of tensor memory, as two accumulators of 128
// rows, three stages of 64 along K. The launcher issues; warpgroup w reads accumulator w. General types and fp32 go by
// fused multiply-adds, 64 columns at a time: correct and slow.
#pragma once

#include "device/arch/sm100/descriptor.cuh"
#include "device/vocabulary/tensor_memory.cuh"
#include "ops/gemm/epilogue.cuh"
#include "ops/gemm/exact.cuh"
#include "ops/gemm/operands.cuh"

namespace megakittens::ops::sm100 {

using device::Context;
using device::Lanes;
using gemm::Kind;

inline constexpr gemm::Tile kTile = gemm::tile_of(gemm::TileName::gemm_blackwell);
inline constexpr uint32_t kHalfRows = 128;  ///< rows of one accumulator

/// The two pages of the general types: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = kTile.page_a(0), kGeneralPageB = kTile.page_b(0);
/// Columns of a pass of the general types: their accumulators are registers.
inline constexpr int32_t kPassColumns = 64;

/// Issues both accumulators' products over the stage that holds chunk `k`. One lane.
template <class B>
MK_DEVICE void issue_chunk(const Context<B>& c, const Kind& kind, uint32_t instruction, uint32_t d, uint32_t k) {
  using namespace megakittens::sm100;
  using device::Swizzle;
  const uint32_t stage = k % kTile.stages;
  const uint32_t pages = c.page_map(), at_b = gemm::address_b<kTile>(c, pages, stage);
  const uint64_t b =
      kind.n_major ? n_major(at_b, Swizzle::k128B, kTile.depth * gemm::kBlockRowBytes) : k_major(at_b, Swizzle::k128B);
  const uint32_t step_b = kind.n_major ? 16 * gemm::kBlockRowBytes : 32;
  MK_ROLLED for (uint32_t half = 0; half < 2; ++half) {
    const uint64_t a =
        k_major(gemm::address_a<kTile>(c, pages, stage) + half * kHalfRows * gemm::kBlockRowBytes, Swizzle::k128B);
    MK_UNROLL for (uint32_t step = 0; step < kTile.depth / 16; ++step) ptx::tcgen05_mma_f16<1>(
        d + half * kTile.columns, advance(a, step * 32), advance(b, step * step_b), instruction, k > 0 || step > 0);
  }
}

/// Waits until chunk k's products are done: its stage and, where it was the last in them, its pages are free (row 5).
template <class B>
MK_DEVICE void release_chunk(Context<B>& c, uint32_t k, uint32_t count) {
  wait_products_lane(c, k);
  free_stage(c, k);
  if (!kTile.last_in_page_b(k, count)) return;
  finish_page(c, kTile.page_b(k % kTile.stages));
  finish_page(c, kTile.page_a(k % kTile.stages));
}

/// Where a lane's chunk of an accumulator lies: sixteen columns of one row.
template <class B>
struct RowPlace : TileBounds<B> {
  int32_t first = 0;  ///< of the tile's columns

  MK_DEVICE explicit RowPlace(const Context<B>& context) : TileBounds<B>{context} {}
  MK_DEVICE Lanes<int32_t> row(uint32_t) const {
    return device::convert<int32_t>(device::lane_index()) +
           (this->c.index(kTileRow) + static_cast<int32_t>(this->c.warp * device::kWarpLanes));
  }
  MK_DEVICE Lanes<int32_t> column(uint32_t g) const {
    return Lanes<int32_t>(this->c.index(kTileColumn) + first + static_cast<int32_t>(g * kRun));
  }
};

/// A consumer warp's 32 rows from tensor memory through the byte code to global memory.
template <class B>
MK_DEVICE void store_tile(Context<B>& c) {
  GlobalPort<B, RowPlace<B>> port{c, RowPlace<B>(c)};
  const uint32_t quarter = c.warp % 4, half = c.warp / 4;
  const uint32_t address = tensor_memory(c) + (quarter * device::kWarpLanes << 16) + half * kTile.columns;
  MK_ROLLED for (uint32_t n = 0; n < kTile.columns; n += kChunk) {
    Lanes<uint32_t> words[kChunk];
    ptx::tcgen05_ld_32x32b<kChunk>(words, address + n);
    ptx::tcgen05_wait_ld(words);
    if (n + kChunk == kTile.columns) free_accumulator_warp(c);
    Lanes<float> chunk[kChunk];
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) chunk[i] = device::bit_cast<float>(words[i]);
    port.place.first = static_cast<int32_t>(n);
    run_code<program::kGemmTemporaries, kChunk>(c, chunk, port);
  }
}

/// The general types' whole instruction, by the consumer warps together.
template <class B>
MK_DEVICE void multiply_exactly(Context<B>& c) {
  wait_stage_full_warp(c, 0);
  wait_page_warp(c, kGeneralPageA);
  wait_page_warp(c, kGeneralPageB);
  wait_writable_warp(c);
  MK_ROLLED for (int32_t n = 0; n < c.index(gemm::kColumns); n += kPassColumns) {
    Lanes<float> acc[kPassColumns / 2];
    MK_UNROLL for (uint32_t i = 0; i < kPassColumns / 2; ++i) acc[i] = 0.0f;
    exact::multiply<kPassColumns>(c, matrix_a(c), matrix_b(c), c.page_address(kGeneralPageA),
                                  c.page_address(kGeneralPageB), acc, n);
    store_accumulators(c, acc, {c.warp * 16, n, kPassColumns});
  }
  device::speak_for_warp([&](uint32_t arrivals) {
    free_stage(c, 0, arrivals);
    finish_page(c, kGeneralPageA, arrivals);
    finish_page(c, kGeneralPageB, arrivals);
  });
}

struct Gemm : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const Context<B>& c) const {
    return gemm::kind_of(c).general ? 1 : gemm::fills<kTile>(c);
  }
  template <class B>
  MK_DEVICE uint32_t accumulator_tiles(const Context<B>& c) const {
    return gemm::kind_of(c).general ? 0 : 1;
  }
  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
    if (gemm::kind_of(c).general)
      gemm::bring_nothing(c, dependent);
    else
      gemm::bring<kTile>(c, dependent);
  }

  template <class B>
  MK_DEVICE void launch(Context<B>& c) const {
    const Kind kind = gemm::kind_of(c);
    if (kind.general) return;
    const uint32_t instruction = megakittens::sm100::encode(megakittens::sm100::InstructionDescriptor{
        .bf16 = !kind.f16, .trans_a = false, .trans_b = kind.n_major, .m = kHalfRows, .n = kTile.columns});
    const uint32_t count = gemm::fills<kTile>(c), d = tensor_memory(c);
    wait_accumulator_free_lane(c);
    MK_ROLLED for (uint32_t k = 0; k < count; ++k) {
      wait_stage_full_lane(c, k);
      if (!c.aborted) issue_chunk(c, kind, instruction, d, k);
      commit_products(c, k);
      if (k > 0) release_chunk(c, k - 1, count);
    }
    commit_accumulator(c);
    release_chunk(c, count - 1, count);
    c.products += count;
  }

  /// Passes on the pages that this instruction does not use.
  template <class B>
  MK_DEVICE void store(Context<B>& c) const {
    const uint32_t used = kTile.used_pages(ring_stages(c));
    MK_ROLLED for (uint32_t lid = 0; lid < B::kPages; ++lid) {
      if ((used >> lid & 1) != 0) continue;
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    if (gemm::kind_of(c).general) return multiply_exactly(c);
    wait_accumulator_full_warp(c);
    wait_writable_warp(c);
    store_tile(c);
  }
};

}  // namespace megakittens::ops::sm100
