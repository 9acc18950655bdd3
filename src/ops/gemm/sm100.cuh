// Blackwell's device half of all GEMM icodes: a 256 x 256 tile in all of tensor memory, as two accumulators of 128
// rows, three stages of 64 along K. The launcher issues; warpgroup w reads accumulator w. General types and fp32 go by
// fused multiply-adds, 64 columns at a time: correct and slow. Pages: A of stage s fills logical page 2 s, B page 2 s +
// 1; page 6 is passed on.
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

struct Tile {
  static constexpr uint32_t kStages = 3, kRows = 256, kColumns = 256, kDepth = gemm::kStageDepth;
  static constexpr bool kTogether = false;  ///< A and B of a stage share a page
  static MK_DEVICE uint32_t page_a(uint32_t stage) { return 2 * stage; }
  static MK_DEVICE uint32_t page_b(uint32_t stage) { return 2 * stage + 1; }
  static MK_DEVICE bool opens_page_a(uint32_t) { return true; }
  static MK_DEVICE uint32_t offset_a(uint32_t) { return 0; }
  template <class B>
  static MK_DEVICE uint32_t address_a(const Context<B>& c, uint32_t stage) {
    return c.page_address(page_a(stage));
  }
  template <class B>
  static MK_DEVICE uint32_t address_b(const Context<B>& c, uint32_t stage) {
    return c.page_address(page_b(stage));
  }
};
inline constexpr uint32_t kHalfRows = 128;  ///< rows of one accumulator
inline constexpr uint32_t kRowBytes = 2 * gemm::kStageDepth;

/// The two pages of the general types: A's and B's staging.
inline constexpr uint32_t kGeneralPageA = 0, kGeneralPageB = 1;
/// Columns of a pass of the general types: their accumulators are registers.
inline constexpr int32_t kPassColumns = 64;

/// Issues both accumulators' products over the stage that holds chunk `k`. One lane.
template <class B>
MK_DEVICE void issue_chunk(const Context<B>& c, const Kind& kind, uint32_t instruction, uint32_t d, uint32_t k) {
  using namespace megakittens::sm100;
  using device::Swizzle;
  const uint32_t stage = k % Tile::kStages;
  const uint32_t page_a = Tile::address_a(c, stage), page_b = Tile::address_b(c, stage);
  const uint64_t b = kind.n_major ? n_major(page_b, Swizzle::k128B, 64 * kRowBytes) : k_major(page_b, Swizzle::k128B);
  const uint32_t step_b = kind.n_major ? 16 * kRowBytes : 32;
  MK_ROLLED for (uint32_t half = 0; half < 2; ++half) {
    const uint64_t a = k_major(page_a + half * kHalfRows * kRowBytes, Swizzle::k128B);
    MK_UNROLL for (uint32_t step = 0; step < gemm::kStageDepth / 16; ++step) ptx::tcgen05_mma_f16<1>(
        d + half * Tile::kColumns, advance(a, step * 32), advance(b, step * step_b), instruction, k > 0 || step > 0);
  }
}

/// Waits until chunk k's products are done: its stage and, where it was the last in them, its pages are free (row 5).
template <class B>
MK_DEVICE void release_chunk(Context<B>& c, uint32_t k, uint32_t count) {
  wait_products_lane(c, k);
  free_stage(c, k);
  if (k + Tile::kStages < count) return;
  finish_page(c, Tile::page_a(k % Tile::kStages));
  finish_page(c, Tile::page_b(k % Tile::kStages));
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
  const uint32_t address = tensor_memory(c) + (quarter * device::kWarpLanes << 16) + half * Tile::kColumns;
  MK_ROLLED for (uint32_t n = 0; n < Tile::kColumns; n += kChunk) {
    Lanes<uint32_t> words[kChunk];
    ptx::tcgen05_ld_32x32b<kChunk>(words, address + n);
    ptx::tcgen05_wait_ld(words);
    if (n + kChunk == Tile::kColumns) free_accumulator_warp(c);
    Lanes<float> chunk[kChunk];
    MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) chunk[i] = device::bit_cast<float>(words[i]);
    port.place.first = static_cast<int32_t>(n);
    run_code<program::kGemmTemporaries>(c, chunk, port);
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
    return Kind(c).general ? 1 : gemm::stages<Tile>(c);
  }
  template <class B>
  MK_DEVICE uint32_t accumulator_tiles(const Context<B>& c) const {
    return Kind(c).general ? 0 : 1;
  }
  template <class B>
  MK_DEVICE void bring(Context<B>& c, bool dependent) const {
    if (Kind(c).general)
      gemm::bring_nothing(c, dependent);
    else
      gemm::bring<Tile>(c, dependent);
  }

  template <class B>
  MK_DEVICE void launch(Context<B>& c) const {
    const Kind kind(c);
    if (kind.general) return;
    const uint32_t instruction = megakittens::sm100::encode(megakittens::sm100::InstructionDescriptor{
        .bf16 = !kind.f16, .trans_a = false, .trans_b = kind.n_major, .m = kHalfRows, .n = Tile::kColumns});
    const uint32_t count = gemm::stages<Tile>(c), d = tensor_memory(c);
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
    const uint32_t used = Kind(c).general ? 2 : 2 * device::min(gemm::stages<Tile>(c), Tile::kStages);
    MK_ROLLED for (uint32_t lid = used; lid < B::kPages; ++lid) {
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  template <class B>
  MK_DEVICE void consume(Context<B>& c) const {
    if (Kind(c).general) return multiply_exactly(c);
    wait_accumulator_full_warp(c);
    wait_writable_warp(c);
    store_tile(c);
  }
};

}  // namespace megakittens::ops::sm100
