// What host and device know of a product's tile, and what an icode says. Shared by both; the list is tiles.def.
#pragma once

#include "ops/icodes.hpp"

namespace megakittens::ops::gemm {

/// The tensor-core instruction a tile is for.
enum class Cores : uint8_t { wgmma, tcgen05 };
/// What a warpgroup multiplies: its half of the rows; or all rows over its half of every stage's K, after which the
/// warpgroups exchange halves of their sums by way of a page.
enum class Division : uint8_t { rows, depth };
/// B of stage s fills page s, and A lies in the pages behind, as many stages in one as fit; or stage s is page s, B
/// before A.
enum class Placement : uint8_t { apart, together };

/// Elements in a 128-byte row: shared memory holds both operands in blocks of such rows.
inline constexpr uint32_t kBlock = 64, kBlockRowBytes = 128;
/// Of the interpreter's build for products. The last page carries sums between warpgroups, and with the page before
/// stages them for the byte code; kStagedSums: so many of a lane as fp32 in one of them, or twice as many of 16 bits.
inline constexpr uint32_t kPages = 7, kPageBytes = 32768, kSumsPage = kPages - 1, kStagedSums = 32;

/// One CTA's output tile and the ring of stages along K that feeds it. Plain data; a template argument in device code.
struct Tile {
  Cores cores;
  Division division;
  Placement placement;
  uint32_t rows;
  uint32_t columns;
  uint32_t depth;  ///< elements of K in one stage
  uint32_t stages;
  /// Clocks of a tile when another goes before it on its SM: whatever its K, and for each kBlock of K.
  uint32_t fixed_clocks;
  uint32_t chunk_clocks;
  /// cut_for takes the tile only where PlanOptions::tile names it.
  bool on_request = false;

  constexpr bool operator==(const Tile&) const = default;

  constexpr bool divided() const { return division == Division::depth; }
  constexpr bool together() const { return placement == Placement::together; }
  constexpr uint32_t bytes_a() const { return rows * depth * 2; }
  constexpr uint32_t bytes_b() const { return columns * depth * 2; }
  /// How often the ring is filled for a product of that K.
  constexpr uint32_t fills(uint32_t k) const { return (k + depth - 1) / depth; }

  /// Stages whose A shares a page.
  constexpr uint32_t stages_a_page() const { return together() ? 1 : kPageBytes / bytes_a(); }
  constexpr uint32_t page_a(uint32_t stage) const { return together() ? stage : stages + stage / stages_a_page(); }
  constexpr uint32_t page_b(uint32_t stage) const { return stage; }
  constexpr uint32_t offset_a(uint32_t stage) const {
    return together() ? bytes_b() : stage % stages_a_page() * bytes_a();
  }
  constexpr bool opens_page_a(uint32_t stage) const { return stage % stages_a_page() == 0; }
  constexpr uint32_t pages() const { return together() ? stages : page_a(stages - 1) + 1; }
  /// A lane's sums that are stored, and the last pages in which sums are staged that go through the byte code. Of the
  /// tile's operands only A may lie there, which each warpgroup reads alone.
  constexpr uint32_t kept_sums() const { return columns / (divided() ? 4 : 2); }
  constexpr uint32_t staging_pages() const { return (kept_sums() / 2 + kStagedSums - 1) / kStagedSums; }
  constexpr bool stages_in(uint32_t page) const { return page + staging_pages() >= kPages; }
  /// They may be staged as fp32: the code need not round them first.
  constexpr bool takes_unrounded() const {
    return cores == Cores::tcgen05 || kept_sums() <= kStagedSums * staging_pages();
  }

  /// Those that a product of so many fills uses, a bit each. Staged: its sums go through the byte code.
  constexpr uint32_t used_pages(uint32_t fills, bool staged = false) const {
    const uint32_t filled = fills < stages ? fills : stages;
    uint32_t used = (1u << filled) - 1;
    if (!together()) used |= ((1u << (filled + stages_a_page() - 1) / stages_a_page()) - 1) << stages;
    if (divided()) used |= 1u << kSumsPage;
    for (uint32_t page = 0; staged && page < kPages; ++page)
      if (stages_in(page)) used |= 1u << page;
    return used;
  }
  /// Fill k is the last in its stage's page of B, and in that of A.
  constexpr bool last_in_page_b(uint32_t k, uint32_t fills) const { return k + stages >= fills; }
  constexpr bool last_in_page_a(uint32_t k, uint32_t fills) const {
    const uint32_t shared = stages_a_page(), place = k % shared;
    return k + (place + 1 == shared ? stages + 1 - shared : 1) >= fills;
  }

  /// See program::Instruction::release_order: the device lets go of unused pages first, then of B's and A's page of
  /// each of the last fills, then of the page that carries sums or stages them.
  constexpr uint64_t release_order(uint32_t fills, bool staged = false) const {
    uint64_t order = 0;
    uint32_t count = 0;
    auto push = [&](uint32_t page) { order |= uint64_t{page} << 4 * count++; };
    auto kept = [&](uint32_t page) { return staged && stages_in(page); };
    for (uint32_t page = 0; page < kPages; ++page)
      if ((used_pages(fills, staged) >> page & 1) == 0) push(page);
    for (uint32_t k = fills > stages ? fills - stages : 0; k < fills; ++k) {
      push(page_b(k % stages));
      if (!together() && last_in_page_a(k, fills) && !kept(page_a(k % stages))) push(page_a(k % stages));
    }
    for (uint32_t page = 0; page < kPages; ++page)
      if (kept(page) || (divided() && page == kSumsPage)) push(page);
    return order;
  }

  /// The device code takes such a shape, and its ring lies in the pages.
  constexpr bool fits() const {
    const bool shape = cores == Cores::tcgen05 ? rows == 256 && columns == 256 && depth == kBlock && !divided()
                       : divided()             ? rows == 64 && columns <= 128 && depth == 2 * kBlock
                                               : rows == 128 && columns <= 256 && depth == kBlock;
    return shape && columns % kBlock == 0 && (together() ? bytes_a() : 0) + bytes_b() <= kPageBytes &&
           bytes_a() <= kPageBytes && stages % stages_a_page() == 0 && pages() + (divided() ? 1 : 0) <= kPages &&
           (cores == Cores::tcgen05 || (pages() < kPages && (staging_pages() == 1 || (!together() && rows == 128))));
  }
};

enum class TileName : uint8_t {
#define MK_GEMM_TILE(name, ...) name,
#include "ops/gemm/tiles.def"
};

inline constexpr Tile kTiles[] = {
#define MK_GEMM_TILE(name, ...) {__VA_ARGS__},
#include "ops/gemm/tiles.def"
};
inline constexpr uint32_t kTileCount = sizeof(kTiles) / sizeof(Tile);
constexpr const Tile& tile_of(TileName name) {
  return kTiles[static_cast<uint32_t>(name)];
}
#define MK_GEMM_TILE(name, ...) static_assert(tile_of(TileName::name).fits(), #name);
#include "ops/gemm/tiles.def"

/// The general types' tile: operands come by the consumers' ordinary loads.
inline constexpr uint32_t kGeneralRows = 128, kGeneralColumns = 256;
/// They stage 128 columns at once, fp32 or rounded.
inline constexpr uint32_t kGeneralStagingPages = 2;

constexpr bool is_product(uint32_t icode) {
  return icode >= kIcode_gemm_general_bf16 && icode < kIcodeCount;
}

/// What a product's icode says.
struct Kind {
  bool general;
  bool exact;  ///< fp32
  bool f16;
  bool n_major;   ///< B
  TileName tile;  ///< means nothing where general

  constexpr explicit Kind(uint32_t icode) {
    const uint32_t number = icode - kFirstTileIcode;
    general = icode < kFirstTileIcode;
    exact = icode == kIcode_gemm_general_f32;
    f16 = general ? icode == kIcode_gemm_general_f16 : number % 4 >= 2;
    n_major = !general && number % 2 == 1;
    tile = static_cast<TileName>(number / 4);
  }
};
constexpr uint16_t icode_of(TileName tile, bool f16, bool n_major) {
  return static_cast<uint16_t>(kFirstTileIcode + 4 * static_cast<uint32_t>(tile) + (f16 ? 2 : 0) + (n_major ? 1 : 0));
}

}  // namespace megakittens::ops::gemm
