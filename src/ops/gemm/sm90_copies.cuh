// The copies into narrow tiles' stages. These tiles' products wait for the loading lanes, whose turns are
// as long as their instructions are many: a loop for each choice of operands, with little in it.
#pragma once

#include "ops/gemm/operands.cuh"

namespace megakittens::ops::sm90 {

using device::Context;
using gemm::Source;
using gemm::Tile;

/// What a role copies, found out before it waits for other SMs.
template <Tile kTile>
struct Copies {
  static_assert(kTile.together() && kTile.rows == gemm::kBlock && kTile.columns == gemm::kBlock);
  static constexpr uint32_t kPartBytes = kTile.bytes_a();              ///< a stage's part of either operand
  static constexpr uint32_t kBlocksDeep = kTile.depth / gemm::kBlock;  ///< each rows of 128 bytes
  static constexpr uint32_t kBlockBytes = kPartBytes / kBlocksDeep;

  uint32_t count;  ///< stages
  uint32_t pages;
  Source a;
  Source b;
  int32_t row;
  int32_t column;

  template <class B>
  MK_DEVICE explicit Copies(const Context<B>& c)
      : count(gemm::fills<kTile>(c)),
        pages(c.page_map()),
        a(c, 0),
        b(c, 1),
        row(c.index(gemm::kRow)),
        column(c.index(gemm::kColumn)) {}

  template <class B>
  MK_DEVICE void wait(Context<B>& c, uint32_t k, uint32_t stage) const {
    wait_stage_and_page(c, k, kTile.stages, device::mapped_page(pages, stage));
  }

  /// Copies into every stage (row 1); the first has been waited for.
  template <bool kWithA, bool kMMajor, bool kWithB, bool kNMajor, class B>
  MK_DEVICE void run(Context<B>& c) const {
    uint32_t k = 0, stage = 0;
    int32_t depth = 0;
    MK_ROLLED while (!c.aborted) {
      fill_stage(c, k, (kWithA ? kPartBytes : 0) + (kWithB ? kPartBytes : 0));
      const uint32_t full = stage_full(c, k), to = gemm::address_b<kTile>(c, pages, stage);
      const uint32_t to_a = to + kTile.offset_a(stage);
      if constexpr (kWithA && kMMajor) gemm::copy_boxes<1>(to_a, 0, a, row, depth, full);
      if constexpr (kWithA && !kMMajor) gemm::copy_boxes<kBlocksDeep>(to_a, kBlockBytes, a, depth, row, full);
      if constexpr (kWithB && kNMajor) gemm::copy_boxes<1>(to, 0, b, column, depth, full);
      if constexpr (kWithB && !kNMajor) gemm::copy_boxes<kBlocksDeep>(to, kBlockBytes, b, depth, column, full);
      if (++k == count) return;
      stage = stage + 1 == kTile.stages ? 0 : stage + 1;
      depth += static_cast<int32_t>(kTile.depth);
      wait(c, k, stage);
    }
  }
};

/// Copies the operands that this role stands for. One lane.
template <Tile kTile, class B>
MK_DEVICE void bring_together(Context<B>& c, bool dependent) {
  bool with_a = false, with_b = false;
  gemm::own_operands(c, dependent, with_a, with_b);
  const Copies<kTile> copies(c);
  if (copies.count == 0) return;
  const bool m_major = gemm::kind_of(c).m_major, n_major = gemm::kind_of(c).n_major;
  copies.wait(c, 0, 0);
  // The first fill comes behind this: by it consumers have what the counters stand for, whichever operand that is
  // (rows 9 and 11).
  if (dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
  auto run = [&]<bool kWithA, bool kMMajor>() MK_INLINE {
    if (!with_b) return copies.template run<kWithA, kMMajor, false, false>(c);
    if (n_major) return copies.template run<kWithA, kMMajor, true, true>(c);
    return copies.template run<kWithA, kMMajor, true, false>(c);
  };
  if (!with_a) return run.template operator()<false, false>();
  if (m_major) return run.template operator()<true, true>();
  return run.template operator()<true, false>();
}

}  // namespace megakittens::ops::sm90
