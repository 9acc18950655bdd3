// Device half of both elementwise icodes. Tiled: matrix operands arrive in slots of pages by bulk copy, vectors and
// scalars are read from global memory, and results leave by bulk store, often from the slot of an operand (row 28).
// General: consumers read and write global memory by ordinary accesses.
#pragma once

#include "ops/elementwise/place_chunk.cuh"
#include "ops/icodes.hpp"

namespace megakittens::ops {

namespace elementwise {

/// What the instruction says about slots.
struct SlotPlan {
  uint32_t operands;
  uint32_t rows;   ///< of a tile
  uint32_t bytes;  ///< of a slot
  uint32_t per_tile;
  uint32_t per_page;

  template <class B>
  MK_DEVICE explicit SlotPlan(const device::Context<B>& c) {
    const uint32_t shape = static_cast<uint32_t>(c.index(kShape)), counts = static_cast<uint32_t>(c.index(kSlotCounts));
    operands = shape >> 8 & 0xff;
    rows = shape >> 16;
    bytes = static_cast<uint32_t>(c.index(kSlotBytes));
    per_tile = counts & 0xffff;
    per_page = counts >> 16;
  }
  MK_DEVICE uint32_t pages(uint32_t tiles) const { return (tiles * per_tile + per_page - 1) / per_page; }
  /// Operand k's slot of tile `tile`.
  template <class B>
  MK_DEVICE uint32_t address(const device::Context<B>& c, uint32_t tile, uint32_t k) const {
    const uint32_t number = static_cast<uint32_t>(c.index(k < 8 ? kSlotsLow : kSlotsHigh)) >> (4 * (k % 8)) & 15;
    const uint32_t slot = tile * per_tile + number;
    return c.page_address(slot / per_page) + slot % per_page * bytes;
  }
};

template <class B>
MK_DEVICE bool is_tiled(const device::Context<B>& c) {
  return (c.word(0) & 0xffff) == kIcode_elementwise;
}

template <class B>
MK_DEVICE uint32_t tile_count(const device::Context<B>& c) {
  return (static_cast<uint32_t>(c.index(kColumns)) + kTileColumns - 1) / kTileColumns;
}

/// Calls f(k, type, map) for every operand that has a slot and is, or is not, an output.
template <class B, class F>
MK_DEVICE void for_each_slot(const device::Context<B>& c, uint32_t operands, bool outputs, F&& f) {
  MK_ROLLED for (uint32_t k = 0; k < operands; ++k) {
    const uint32_t word = c.operand_word(k), map = word >> 16;
    if (map != program::kNoMap && ((word >> 8 & program::kOperandOutput) != 0) == outputs) f(k, word & 0xff, map);
  }
}

/// One run of eight in shared memory.
struct SharedRun {
  Lanes<uint32_t> address;
  MK_DEVICE Words<4> v4(uint32_t i) const { return ptx::ld_shared_v4(address + 16 * i); }
  MK_DEVICE Words<2> v2() const { return ptx::ld_shared_v2(address); }
  MK_DEVICE void v4(uint32_t i, const Words<4>& words) const { ptx::st_shared_v4(address + 16 * i, words); }
  MK_DEVICE void v2(const Words<2>& words) const { ptx::st_shared_v2(address, words); }
};

/// Operands in slots by shared memory, the others as GlobalPort.
template <class B>
struct TilePort {
  GlobalPort<B, ChunkPlace<B>> global;
  const SlotPlan& plan;
  uint32_t tile;
  int32_t row;  ///< of the chunk inside the tile

  MK_DEVICE SharedRun run(uint32_t slot_address, uint32_t type, uint32_t g) const {
    const Lanes<uint32_t> lane = device::lane_index();
    const Lanes<uint32_t> element =
        ((lane >> 4) + (static_cast<uint32_t>(row) + 2 * g)) * uint32_t{kTileColumns} + (lane & 15u) * 8u;
    return {element * element_size(type) + slot_address};
  }
  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    const uint32_t word = global.c.operand_word(k), type = word & 0xff;
    if (word >> 16 == program::kNoMap) return global.load(k, values);
    const uint32_t address = plan.address(global.c, tile, k);
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) read_run(type, run(address, type, g), values + g * kRun);
  }
  MK_DEVICE void store(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    const uint32_t word = global.c.operand_word(k), type = word & 0xff;
    if (word >> 16 == program::kNoMap) return global.store(k, values);
    const uint32_t address = plan.address(global.c, tile, k);
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) write_run(type, run(address, type, g), values + g * kRun);
  }
};

}  // namespace elementwise

struct Elementwise : Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>& c) const {
    return elementwise::is_tiled(c) ? elementwise::tile_count(c) : 1;
  }
  template <class B>
  MK_DEVICE uint32_t output_tiles(const device::Context<B>& c) const {
    return elementwise::is_tiled(c) ? elementwise::tile_count(c) : 0;
  }

  /// Copies the operands whose waits this role stands for: the loader those without, the follower those with.
  template <class B>
  MK_DEVICE void bring(device::Context<B>& c, bool dependent) const {
    using namespace elementwise;
    if (!is_tiled(c)) {  // one stage without bytes hands the follower's acquire to the consumers (rows 8 and 10)
      wait_stage_free(c, 0, device::kRingStages);
      if (dependent) wait_counters(c, 0xff & ~program::kGuardWrite);
      return fill_stage(c, 0, 0);
    }
    const SlotPlan plan(c);
    uint32_t guarded = 0;
    MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
    const uint32_t tiles = tile_count(c);
    uint32_t pages = 0;
    MK_ROLLED for (uint32_t t = 0; t < tiles; ++t) {
      wait_stage_free(c, t, device::kRingStages);
      // Both roles take the tokens: the consumers write results into slots that nothing was copied to.
      for (; pages < plan.pages(t + 1); ++pages) wait_page(c, pages);
      // Rows 9 and 11.
      if (t == 0 && dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
      uint32_t bytes = 0;
      for_each_slot(c, plan.operands, false, [&](uint32_t k, uint32_t type, uint32_t) {
        if (((program::guard_bit(k) & guarded) != 0) == dependent)
          bytes += plan.rows * kTileColumns * element_size(type);
      });
      fill_stage(c, t, bytes);
      if (c.aborted) continue;
      const int32_t at[4] = {c.index(kColumn) + static_cast<int32_t>(t) * kTileColumns, c.index(kRow), c.index(kOuter1),
                             c.index(kOuter0)};
      for_each_slot(c, plan.operands, false, [&](uint32_t k, uint32_t, uint32_t map) {
        if (((program::guard_bit(k) & guarded) != 0) == dependent)
          ptx::cp_async_bulk_tensor_g2s<4>(plan.address(c, t, k), c.map(map), at, stage_full(c, t));
      });
    }
  }

  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using namespace elementwise;
    const SlotPlan plan(c);
    const bool tiled = is_tiled(c), single_row = (static_cast<uint32_t>(c.index(kShape)) & kSingleRow) != 0;
    TilePort<B> port{{c, ChunkPlace<B>(c, single_row)}, plan, 0, 0};
    const int32_t column_end = c.index(kColumn) + c.index(kColumns);
    if (!tiled) {
      pass_pages_warp(c);
      wait_writable_warp(c);
    }
    // Blocks of columns as wide as a tile, rows dealt to the warps; or long pieces of a single row.
    const int32_t warp = static_cast<int32_t>(c.warp), warps = device::kConsumerWarps;
    const int32_t width = single_row ? warps * kLongRow : kTileColumns;
    const int32_t rows = tiled ? static_cast<int32_t>(plan.rows) : c.index(kRows);
    uint32_t block = 0;
    MK_ROLLED for (int32_t n = c.index(kColumn); n < column_end; n += width, ++block) {
      if (tiled || block == 0) wait_stage_full_warp(c, block);
      port.tile = block;
      MK_ROLLED for (int32_t r = single_row ? 0 : warp * kChunkRows; r < rows; r += warps * kChunkRows) {
        port.row = r;
        port.global.place.first_row = c.index(kRow) + r;
        port.global.place.first_column = single_row ? n + warp * kLongRow : n;
        Lanes<float> acc[kChunk];
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = 0.0f;
        run_code<program::kTemporaries>(c, acc, port);
      }
      if (tiled) finish_tile_warp(c, block);
    }
    if (!tiled) device::speak_for_warp([&](uint32_t arrivals) { free_stage(c, 0, arrivals); });
  }

  /// Stores finished tiles and gives every page back (rows 6 to 8).
  template <class B>
  MK_DEVICE void store(device::Context<B>& c) const {
    using namespace elementwise;
    if (!is_tiled(c)) return;
    const SlotPlan plan(c);
    const uint32_t tiles = tile_count(c), pages = plan.pages(tiles);
    MK_ROLLED for (uint32_t lid = pages; lid < B::kPages; ++lid) {
      wait_page(c, lid);
      finish_page(c, lid);
    }
    uint32_t finished = 0;
    MK_ROLLED for (uint32_t t = 0; t < tiles; ++t) {
      wait_tile_done_lane(c, t);
      free_stage(c, t);
      if (!c.aborted) {
        const int32_t at[4] = {c.index(kColumn) + static_cast<int32_t>(t) * kTileColumns, c.index(kRow),
                               c.index(kOuter1), c.index(kOuter0)};
        for_each_slot(c, plan.operands, true, [&](uint32_t k, uint32_t, uint32_t map) {
          ptx::cp_async_bulk_tensor_s2g<4>(c.map(map), at, plan.address(c, t, k));
        });
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group_read<0>();
      }
      // A page that the next tile shares is finished with that tile.
      const uint32_t whole = t + 1 == tiles ? pages : (t + 1) * plan.per_tile / plan.per_page;
      for (; finished < whole; ++finished) finish_page(c, finished);
    }
    if (!c.aborted) ptx::cp_async_bulk_wait_group<0>();
  }
};

}  // namespace megakittens::ops
