// Device half of the elementwise type. An instruction is a stretch of its node's space in row-major order. Operands
// that lie in that order come in pieces by flat bulk copies through a ring of stages; others are gathered by the
// consumer warps, which take a block after another and write results from registers.
#pragma once

#include "ops/elementwise/operands.cuh"
#include "ops/icodes.hpp"

/// Values that a lane holds of a block whose code needs few temporaries.
#ifndef MK_LANE_VALUES
#define MK_LANE_VALUES 32
#endif

namespace megakittens::ops {

struct Elementwise : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>& c) const {
    return elementwise::Shape(c).stages();
  }

  /// Copies the operands whose waits this role stands for: the loader those without, the follower those with. A stage
  /// without bytes hands the follower's acquire to the consumers (rows 8 and 10).
  template <class B>
  MK_DEVICE void bring(device::Context<B>& c, bool dependent) const {
    using namespace elementwise;
    const Shape shape(c);
    uint32_t guarded = 0;
    MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
    auto own = [&](uint32_t k, uint32_t word) MK_INLINE {
      return in_ring(mode_of(c, k), word) && ((program::guard_bit(k) & guarded) != 0) == dependent;
    };
    const uint64_t begin = begin_of(c.index(kBeginLow), c.index(kBeginHigh));
    const uint32_t stages = shape.stages(), depth = shape.depth == 0 ? device::kRingStages : shape.depth;
    uint32_t element_bytes = 0;  // of the operands that this role copies
    MK_ROLLED for (uint32_t k = 0; k < shape.operands; ++k) {
      const uint32_t word = c.operand_word(k);
      if (own(k, word)) element_bytes += element_size(word & 0xff);
    }
    uint32_t place = 0;  // in the ring
    MK_ROLLED for (uint32_t n = 0; n < stages; ++n) {
      wait_stage_free(c, n, depth);
      if (shape.depth != 0 && n < depth && (n & (shape.per_page - 1)) == 0) wait_page(c, shape.page_of(n));
      // Rows 9 and 11.
      if (n == 0 && dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
      const uint32_t elements = device::min(shape.piece, shape.elements - n * shape.piece);
      fill_stage(c, n, elements * element_bytes);
      if (element_bytes != 0 && !c.aborted) {
        uint32_t to = stage_address(c, shape, place);
        MK_ROLLED for (uint32_t k = 0; k < shape.operands; ++k) {
          const uint32_t word = c.operand_word(k), size = element_size(word & 0xff);
          if (!in_ring(mode_of(c, k), word)) continue;
          if (own(k, word))
            ptx::cp_async_bulk_g2s(to, c.window(k).base + (begin + n * shape.piece) * size, elements * size,
                                   stage_full(c, n));
          to += size * shape.piece;
        }
      }
      place = place + 1 == depth ? 0 : place + 1;
    }
  }

  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using namespace elementwise;
    const Shape shape(c);
    const Lanes<uint32_t> lane = hidden_lane();
    const Operands operands(c, shape, lane);
    wait_writable_warp(c);
    MK_ROLLED for (uint32_t i = 0; i < shape.staging; ++i) wait_page_warp(c, shape.pages() + i);
    const uint32_t stages = shape.stages(), piece_blocks = (shape.piece + kBlock - 1) / kBlock;
    const uint32_t blocks = (shape.elements + kBlock - 1) / kBlock;
    uint32_t place = 0;
    MK_ROLLED for (uint32_t n = 0; n < stages; ++n) {
      wait_stage_full_warp(c, n);
      Port<B> port{c, shape, operands, lane, shape.depth == 0 ? 0 : stage_address(c, shape, place), n * shape.piece,
                   0u};
      const uint32_t first = n * piece_blocks, end = device::min(first + piece_blocks, blocks);
      // Block b is warp b % 8's.
      MK_ROLLED for (uint32_t b = first + (c.warp - first) % device::kConsumerWarps; b < end;
                     b += device::kConsumerWarps) {
        if constexpr (!B::kLauncher) {
          if (!shape.narrow) {
            run_block<MK_LANE_VALUES, kWideTemporaries>(c, port, b);
            continue;
          }
        }
        run_block<B::kLauncher ? 8 : 16, program::kTemporaries>(c, port, b);
      }
      const bool page_ends = ends_page(shape, stages, n, place);
      device::speak_for_warp([&](uint32_t arrivals) {
        free_stage(c, n, arrivals);
        if (page_ends) finish_page(c, shape.page_of(place), arrivals);
      });
      place = place + 1 == shape.depth ? 0 : place + 1;
    }
    if (!shape.gathers()) return;
    // The staging pages' next bulk copies come by the other proxy (row 3).
    ptx::fence_proxy_async_shared_cta();
    device::speak_for_warp([&](uint32_t arrivals) {
      MK_ROLLED for (uint32_t i = 0; i < shape.staging; ++i) finish_page(c, shape.pages() + i, arrivals);
    });
  }

  /// Gives back the pages that the instruction does not take.
  template <class B>
  MK_DEVICE void store(device::Context<B>& c) const {
    const elementwise::Shape shape(c);
    MK_ROLLED for (uint32_t lid = shape.pages() + shape.staging; lid < B::kPages; ++lid) {
      wait_page(c, lid);
      finish_page(c, lid);
    }
  }

 private:
  /// Beside four temporaries there are registers for sixteen values, beside one for 32; Blackwell's consumers have
  /// fewer.
  template <uint32_t kLaneValues, int kTemporaries, class B>
  static MK_DEVICE void run_block(const device::Context<B>& c, elementwise::Port<B>& port, uint32_t block) {
    MK_ROLLED for (uint32_t part = 0; part < elementwise::kBlock; part += 32 * kLaneValues) {
      port.first = port.lane * 8 + (block * elementwise::kBlock + part);
      if (port.shape.gathers()) port.template gather_operands<kLaneValues>();
      Lanes<float> acc[kLaneValues];
      MK_UNROLL for (uint32_t i = 0; i < kLaneValues; ++i) acc[i] = 0.0f;
      run_code<kTemporaries, kLaneValues>(c, acc, port);
    }
  }

  template <class B>
  static MK_DEVICE uint32_t stage_address(const device::Context<B>& c, const elementwise::Shape& shape,
                                          uint32_t place) {
    return c.page_address(shape.page_of(place)) + shape.template offset_of<B>(place);
  }

  /// No stage behind stage n, which lies at `place` of the ring, lies in the same page.
  static MK_DEVICE bool ends_page(const elementwise::Shape& shape, uint32_t stages, uint32_t n, uint32_t place) {
    if (shape.depth == 0) return false;
    if (n + 1 == stages) return true;
    const uint32_t in_page = place & (shape.per_page - 1);
    const bool next_is_elsewhere = in_page + 1 == shape.per_page || place + 1 == shape.depth;
    return next_is_elsewhere && n - in_page + shape.depth >= stages;
  }
};

}  // namespace megakittens::ops
