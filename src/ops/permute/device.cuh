// Device half of permutations, the same on every architecture. Every consumer warp moves tiles of its own, by ordinary
// accesses: no warp waits for another. A tile's loads are on their way while the tile before leaves shared memory.
#pragma once

#include "ops/noop/device.cuh"
#include "ops/permute/input.cuh"
#include "ops/permute/output.cuh"

namespace megakittens::ops {

struct Permute : Quiet {
  /// One stage without bytes hands the follower's acquire to the consumers (rows 8 and 10).
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>&) const {
    return 1;
  }
  template <class B>
  MK_DEVICE void bring(device::Context<B>& c, bool dependent) const {
    wait_stage_free(c, 0, device::kRingStages);
    if (dependent) wait_counters(c, 0xff & ~program::kGuardWrite);
    fill_stage(c, 0, 0);
  }

  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using namespace permute;
    static_assert(kTilesOfPage * kTilePitch <= B::kPageBytes && kPages <= B::kPages);
    static_assert(device::kConsumerWarps <= kTilesOfPage * kPages);
    // All warps wait alike, whether they have tiles or not: where a wait expires, all leave, and none is left with a
    // product that takes a whole warpgroup.
    MK_ROLLED for (uint32_t lid = 0; lid < kPages; ++lid) wait_page_warp(c, lid);
    const uint32_t warp = device::warp_uniform(Lanes<uint32_t>(c.warp));
    const Box box(c, warp);
    uint32_t tiles = 1;
    MK_UNROLL for (uint32_t d = 0; d < kRank; ++d) tiles *= static_cast<uint32_t>(c.index(kGrid + d));
    wait_stage_full_warp(c, 0);

    TileSide to{nullptr, 0, 0, 0};
    bool full = false;  // shared memory holds the tile that goes there
    MK_ROLLED for (uint32_t number = warp; !c.aborted; number += device::kConsumerWarps) {
      const bool more = number < tiles;
      const OperandSide input(c, 0, box);
      const uint32_t from_bytes = element_size(input.type);
      TileSide from{nullptr, 0, 0, 0}, next{nullptr, 0, 0, 0};
      place_tile(c, box, more ? number : 0, from, next);
      // Shared memory takes no vectors at odd bytes.
      const bool vectors = more && input.run_step == from_bytes && (from_bytes > 1 || input.aligned(from));
      const uint32_t rounds = vectors ? input.elements() * from_bytes / 16 : 1;
      MK_ROLLED for (uint32_t first = 0; first < rounds; first += kHeld * device::kWarpLanes) {
        Words<4> held[kHeld];
        MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) held[i] = Words<4>{};
        if (vectors) load_vectors(box, input, from, from_bytes, first, held);
        if (first == 0 && full) {
          if (number == warp + device::kConsumerWarps) wait_writable_warp(c);
          if (!c.aborted) store_tile(box, OperandSide(c, 1, box), to);
          ptx::syncwarp();
        }
        if (vectors) put_vectors(box, input, from, from_bytes, first, held);
      }
      if (!more) break;
      ptx::syncwarp();
      if (!vectors || !input.whole(from, from_bytes)) copy_elements(box, input, from, from_bytes, vectors);
      if (input.type != (c.operand_word(1) & 0xff)) {
        ptx::syncwarp();
        cast_tile(box, input.elements(), input.type, c.operand_word(1) & 0xff);
      }
      ptx::syncwarp();
      to = next;
      full = true;
    }
    if (warp >= tiles) wait_writable_warp(c);
    device::speak_for_warp([&](uint32_t arrivals) { free_stage(c, 0, arrivals); });
  }

  /// Passes on the pages that hold no tiles.
  template <class B>
  MK_DEVICE void store(device::Context<B>& c) const {
    MK_ROLLED for (uint32_t lid = permute::kPages; lid < B::kPages; ++lid) {
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

  /// Gives the tiles' pages on (row 3).
  template <class B>
  MK_DEVICE void consumed(device::Context<B>& c) const {
    ptx::fence_proxy_async_shared_cta();
    MK_ROLLED for (uint32_t lid = 0; lid < permute::kPages; ++lid) {
      device::one_lane([&] { finish_page(c, lid, 1); });
    }
  }
};

}  // namespace megakittens::ops
