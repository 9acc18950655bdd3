// How Hopper's loops lay stages out in pages. 128 x 256 and 64 x 128: B of stage s fills logical page s; A of stages 0
// and 1 shares page 4, of 2 and 3 page 5. 128 x 128 and 64 x 64: stage s is page s, B before A.
#pragma once

#include "ops/gemm/operands.cuh"

namespace megakittens::ops::sm90 {

using device::Context;

struct Pages {
  static constexpr bool kTogether = false;  ///< A and B of a stage share a page
  static constexpr uint32_t kStages = 4;
  static constexpr uint32_t kBytesA = 16384;
  static constexpr uint32_t kFirstPageA = 4, kPagesUsed = 6;

  static MK_DEVICE uint32_t page_a(uint32_t stage) { return kFirstPageA + stage / 2; }
  static MK_DEVICE uint32_t page_b(uint32_t stage) { return stage; }
  static MK_DEVICE bool opens_page_a(uint32_t stage) { return stage % 2 == 0; }
  static MK_DEVICE uint32_t offset_a(uint32_t stage) { return stage % 2 * kBytesA; }
  static MK_DEVICE bool used(uint32_t lid, uint32_t count) {
    return lid < kFirstPageA ? lid < count : lid < kPagesUsed && 2 * (lid - kFirstPageA) < count;
  }
  /// Fill k is the last of `count` in the page of A that it is in. The page's other part is fill k - 1 (odd k) or
  /// k + 1, and returns four later.
  static MK_DEVICE bool last_of_page_a(uint32_t k, uint32_t count) {
    return k % 2 == 1 ? k + 3 >= count : k + 1 >= count;
  }
};

/// A's and B's part of a stage in shared memory.
template <class Layout, class B>
MK_DEVICE uint32_t address_a(const Context<B>& c, uint32_t pages, uint32_t stage) {
  return c.base + device::mapped_page(pages, Layout::page_a(stage)) * B::kPageBytes + Layout::offset_a(stage);
}
template <class Layout, class B>
MK_DEVICE uint32_t address_b(const Context<B>& c, uint32_t pages, uint32_t stage) {
  return c.base + device::mapped_page(pages, Layout::page_b(stage)) * B::kPageBytes;
}

/// Half as large stages, so that there are more: on an H200 a stage is full again 1,700 clocks after it was freed (seen
/// by the loading lane, requested, loaded), and its products take 256 clocks of a 64 x 64 tile, 512 of a 128 x 128 one.
struct StagePages {
  static constexpr bool kTogether = true;
  static constexpr uint32_t kStages = 6;
  static constexpr uint32_t kBytesA = 16384;

  static MK_DEVICE uint32_t page_a(uint32_t stage) { return stage; }
  static MK_DEVICE uint32_t page_b(uint32_t stage) { return stage; }
  static MK_DEVICE bool opens_page_a(uint32_t) { return true; }
  static MK_DEVICE uint32_t offset_a(uint32_t) { return kBytesA; }
  static MK_DEVICE bool used(uint32_t lid, uint32_t count) { return lid < kStages && lid < count; }
};

/// The warpgroup's products over fill k of a stage have retired: the stage and, where it was the last in them, its
/// pages are free (row 4). One lane speaks for its warpgroup, whose products retire together.
template <class Layout, class B>
MK_DEVICE void release_stage(Context<B>& c, uint32_t k, uint32_t count) {
  device::speak_for_warpgroup(c, [&](uint32_t arrivals) {
    free_stage(c, k, arrivals);
    const uint32_t stage = k % Layout::kStages;
    if (k + Layout::kStages >= count) finish_page(c, Layout::page_b(stage), arrivals);
    if constexpr (!Layout::kTogether)
      if (Layout::last_of_page_a(k, count)) finish_page(c, Layout::page_a(stage), arrivals);
  });
}

}  // namespace megakittens::ops::sm90
