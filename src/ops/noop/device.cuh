// Device half of the noop, the same on every architecture.
#pragma once

#include "device/vocabulary/pages.cuh"

namespace megakittens::ops {

/// Consumer warps pass on pages that their instruction does not use, from logical page `first` on, a page a warp.
template <class B>
MK_DEVICE void pass_pages_warp(device::Context<B>& c, uint32_t first = 0) {
  const uint32_t pages = c.page_map();
  for (uint32_t lid = first + c.warp; lid < B::kPages; lid += device::kConsumerWarps) {
    const uint32_t page = device::mapped_page(pages, lid);
    wait_physical_page_warp(c, page);
    device::one_lane([&] { finish_physical_page(c, page); });
  }
}

/// A type that moves nothing through the ring, and whose consumers write by ordinary stores or not at all.
struct Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>&) const {
    return 0;
  }
  template <class B>
  MK_DEVICE uint32_t output_tiles(const device::Context<B>&) const {
    return 0;
  }
  template <class B>
  MK_DEVICE uint32_t accumulator_tiles(const device::Context<B>&) const {
    return 0;
  }
  /// By the loader (dependent: false) and by the follower (true).
  template <class B>
  MK_DEVICE void bring(device::Context<B>&, bool) const {}
  /// By every consumer warp, after it has announced that its stores are made.
  template <class B>
  MK_DEVICE void consumed(device::Context<B>&) const {}
  template <class B>
  MK_DEVICE void launch(device::Context<B>&) const {}
  template <class B>
  MK_DEVICE void store(device::Context<B>&) const {}
};

struct Noop : Quiet {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    pass_pages_warp(c);
  }
  /// Joins: the arrivals that follow stand for everything waited for here.
  template <class B>
  MK_DEVICE void store(device::Context<B>& c) const {
    wait_counters(c, 0xff);
  }
};

}  // namespace megakittens::ops
