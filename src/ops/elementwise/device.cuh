// Device half of both elementwise icodes. Tiled: matrix operands arrive in slots of pages by bulk copy, vectors and
// scalars are read from global memory, and results leave by bulk store, often from the slot of an operand (row 28).
// General: consumers read and write global memory by ordinary accesses.
#pragma once

#include "ops/elementwise/place_chunk.cuh"
#include "ops/icodes.hpp"

namespace megakittens::ops {

namespace elementwise {

/// What a record says about slots, read once an instruction.
struct SlotPlan {
  uint32_t rows;   ///< of a tile
  uint32_t bytes;  ///< of a slot
  uint32_t per_tile;
  uint32_t per_page;

  MK_DEVICE explicit SlotPlan(const program::NodeRecord* record) {
    rows = device::constant(record->parameters + kTileRows);
    bytes = device::constant(record->parameters + kSlotBytes);
    per_tile = device::constant(record->parameters + kSlotsPerTile);
    per_page = device::constant(record->parameters + kSlotsPerPage);
  }
  MK_DEVICE uint32_t pages(uint32_t tiles) const { return (tiles * per_tile + per_page - 1) / per_page; }
  template <class B>
  MK_DEVICE uint32_t address(const device::Context<B>& c, uint32_t slot) const {
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

/// Calls f(operand number, record, slot in the tile) for every operand that has a slot.
template <class F>
MK_DEVICE void for_each_slot(const program::NodeRecord* record, F&& f) {
  const uint32_t operands = device::constant(&record->operand_count);
  uint32_t next = 0, lent = 0;
  bool lender = false;
  MK_ROLLED for (uint32_t k = 0; k < operands; ++k) {
    const program::OperandRecord& operand = record->operands[k];
    if (operand.map == program::kNoMap) continue;
    const bool output = (operand.flags & program::kOperandOutput) != 0;
    if (output && (operand.flags & kSharesSlot) != 0) {
      f(k, operand, lent);
      continue;
    }
    if (!output && !lender) lender = true, lent = next;
    f(k, operand, next++);
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
  GlobalPort<B> global;
  const SlotPlan& plan;
  uint32_t tile;
  int32_t row;  ///< of the chunk inside the tile

  MK_DEVICE uint32_t slot_of(uint32_t k) const {
    uint32_t slot = 0;
    for_each_slot(global.record, [&](uint32_t operand, const program::OperandRecord&, uint32_t at) {
      if (operand == k) slot = at;
    });
    return slot;
  }
  MK_DEVICE SharedRun run(uint32_t slot_address, uint32_t type, uint32_t g) const {
    const Lanes<uint32_t> lane = device::lane_index();
    const Lanes<uint32_t> element =
        ((lane >> 4) + (static_cast<uint32_t>(row) + 2 * g)) * uint32_t{kTileColumns} + (lane & 15u) * 8u;
    return {element * element_size(type) + slot_address};
  }
  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kChunk]) const {
    const program::OperandRecord& operand = global.record->operands[k];
    if (operand.map == program::kNoMap) return global.load(k, values);
    const uint32_t address = plan.address(global.c, tile * plan.per_tile + slot_of(k));
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
        read_run(operand.type, run(address, operand.type, g), values + g * kRun);
  }
  MK_DEVICE void store(uint32_t k, const Lanes<float> (&values)[kChunk]) const {
    const program::OperandRecord& operand = global.record->operands[k];
    if (operand.map == program::kNoMap) return global.store(k, values);
    const uint32_t address = plan.address(global.c, tile * plan.per_tile + slot_of(k));
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
        write_run(operand.type, run(address, operand.type, g), values + g * kRun);
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
    const program::NodeRecord* record = c.record();
    const SlotPlan plan(record);
    uint32_t guarded = 0;
    MK_ROLLED for (uint32_t w = 0; w < c.wait_count(); ++w) guarded |= c.guard(w);
    const uint32_t tiles = tile_count(c);
    uint32_t pages = 0;
    MK_ROLLED for (uint32_t t = 0; t < tiles; ++t) {
      wait_stage_free(c, t, device::kRingStages);
      // Both roles take the tokens: the consumers write results into slots that nothing was copied to.
      for (; pages < plan.pages(t + 1); ++pages) wait_page(c, pages);
      if (t == 0 && dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) ptx::fence_proxy_async_global();
      uint32_t bytes = 0;
      for_each_slot(record, [&](uint32_t k, const program::OperandRecord& operand, uint32_t) {
        if ((operand.flags & program::kOperandOutput) == 0 && ((program::guard_bit(k) & guarded) != 0) == dependent)
          bytes += plan.rows * kTileColumns * element_size(operand.type);
      });
      fill_stage(c, t, bytes);
      if (c.aborted) continue;
      const int32_t at[4] = {c.index(kColumn) + static_cast<int32_t>(t) * kTileColumns, c.index(kRow), c.index(kOuter1),
                             c.index(kOuter0)};
      for_each_slot(record, [&](uint32_t k, const program::OperandRecord& operand, uint32_t slot) {
        if ((operand.flags & program::kOperandOutput) == 0 && ((program::guard_bit(k) & guarded) != 0) == dependent)
          ptx::cp_async_bulk_tensor_g2s<4>(plan.address(c, t * plan.per_tile + slot), c.map(operand.map), at,
                                           stage_full(c, t));
      });
    }
  }
  template <class B>
  MK_DEVICE void load(device::Context<B>& c) const {
    bring(c, false);
  }
  template <class B>
  MK_DEVICE void follow(device::Context<B>& c) const {
    bring(c, true);
  }

  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using namespace elementwise;
    const program::NodeRecord* record = c.record();
    const SlotPlan plan(record);
    const bool tiled = is_tiled(c), single_row = (device::constant(&record->flags) & kSingleRow) != 0;
    TilePort<B> port{{c, record, {}}, plan, 0, 0};
    Place& place = port.global.place;
    place.outer0 = c.index(kOuter0);
    place.outer1 = c.index(kOuter1);
    place.row_end = c.index(kRow) + c.index(kRows);
    place.column_end = c.index(kColumn) + c.index(kColumns);
    if (!tiled) {
      pass_pages_warp(c);
      wait_writable_warp(c);
    }
    // Blocks of columns as wide as a tile, rows dealt to the warps; or long pieces of a single row.
    const int32_t warp = static_cast<int32_t>(c.warp), warps = device::kConsumerWarps;
    const int32_t width = single_row ? warps * kLongRow : kTileColumns;
    const int32_t rows = tiled ? static_cast<int32_t>(plan.rows) : c.index(kRows);
    uint32_t block = 0;
    MK_ROLLED for (int32_t n = place.column_end - c.index(kColumns); n < place.column_end; n += width, ++block) {
      if (tiled || block == 0) wait_stage_full_warp(c, block);
      port.tile = block;
      MK_ROLLED for (int32_t r = single_row ? 0 : warp * kChunkRows; r < rows; r += warps * kChunkRows) {
        port.row = r;
        place_chunk(place, single_row, c.index(kRow) + r, single_row ? n + warp * kLongRow : n);
        Lanes<float> acc[kChunk];
        MK_UNROLL for (uint32_t i = 0; i < kChunk; ++i) acc[i] = 0.0f;
        run_code<program::kTemporaries>(record, acc, port);
      }
      if (tiled) finish_tile_warp(c, block);
    }
    if (!tiled) device::one_lane([&] { free_stage(c, 0, 1); });
  }

  /// Stores finished tiles and gives every page back (rows 6 to 8).
  template <class B>
  MK_DEVICE void store(device::Context<B>& c) const {
    using namespace elementwise;
    if (!is_tiled(c)) return;
    const program::NodeRecord* record = c.record();
    const SlotPlan plan(record);
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
        for_each_slot(record, [&](uint32_t, const program::OperandRecord& operand, uint32_t slot) {
          if ((operand.flags & program::kOperandOutput) != 0)
            ptx::cp_async_bulk_tensor_s2g<4>(c.map(operand.map), at, plan.address(c, t * plan.per_tile + slot));
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
