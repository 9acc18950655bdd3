// The list of products' tiles: what follows from a line of it.
#include "ops/gemm/tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "ops/instruction_type.hpp"

namespace megakittens::ops::gemm {
namespace {

/// Bytes of all pages, and whether an operand of a stage or the sums lie there.
using Memory = std::vector<bool>;

bool take(Memory& memory, std::uint32_t page, std::uint32_t offset, std::uint32_t bytes) {
  if (page >= kPages || offset + bytes > kPageBytes) return false;
  const auto begin = memory.begin() + page * kPageBytes + offset;
  if (std::find(begin, begin + bytes, true) != begin + bytes) return false;
  std::fill(begin, begin + bytes, true);
  return true;
}

TEST(Tile, stages_and_sums_lie_in_pages_without_overlap) {
  for (const Tile& tile : kTiles) {
    Memory memory(kPages * kPageBytes);
    for (std::uint32_t stage = 0; stage < tile.stages; ++stage) {
      EXPECT_TRUE(take(memory, tile.page_b(stage), 0, tile.bytes_b())) << stage;
      EXPECT_TRUE(take(memory, tile.page_a(stage), tile.offset_a(stage), tile.bytes_a())) << stage;
    }
    if (tile.divided()) {
      EXPECT_TRUE(take(memory, kSumsPage, 0, tile.rows * tile.columns * 4));
    }
  }
}

TEST(Tile, pages_are_released_once_each_and_none_before_its_last_use) {
  for (const Tile& tile : kTiles)
    for (bool staged : {false, true})
      for (std::uint32_t fills = 1; fills < 20; ++fills) {
        if (staged && tile.cores == Cores::tcgen05) continue;
        const std::uint64_t released = tile.release_order(fills, staged);
        std::vector<std::uint32_t> order;
        for (std::uint32_t q = 0; q < kPages; ++q) order.push_back(released >> (4 * q) & 15);
        EXPECT_EQ(std::set<std::uint32_t>(order.begin(), order.end()).size(), kPages);
        auto place = [&](std::uint32_t page) { return std::ranges::find(order, page) - order.begin(); };
        std::vector<std::uint32_t> last(kPages);  // one more than the last fill that lies in a page
        for (std::uint32_t k = 0; k < fills; ++k)
          last[tile.page_a(k % tile.stages)] = last[tile.page_b(k % tile.stages)] = k + 1;
        if (tile.divided()) last[kSumsPage] = fills + 1;
        for (std::uint32_t page = 0; page < kPages; ++page) {
          if (staged && tile.stages_in(page)) last[page] = fills + 1;
          EXPECT_EQ((tile.used_pages(fills, staged) >> page & 1) != 0, last[page] > 0) << page << " of " << fills;
        }
        for (std::uint32_t page = 0; page < kPages; ++page)
          for (std::uint32_t later = 0; later < kPages; ++later)
            EXPECT_TRUE(last[page] >= last[later] || place(page) < place(later)) << page << " " << later;
      }
}

TEST(Tile, icodes_say_which_tile_type_and_layout) {
  const std::pair<TileName, std::string> names[] = {
#define MK_GEMM_TILE(name, ...) {TileName::name, #name},
#include "ops/gemm/tiles.def"
  };
  std::set<std::uint16_t> seen;
  for (const auto& [tile, name] : names)
    for (const bool f16 : {false, true})
      for (const bool n_major : {false, true}) {
        const std::uint16_t icode = icode_of(tile, f16, n_major);
        const Kind kind(icode);
        EXPECT_TRUE(seen.insert(icode).second);
        EXPECT_TRUE(is_product(icode) && !kind.general && !kind.exact);
        EXPECT_EQ(kind.tile, tile);
        EXPECT_EQ(kind.f16, f16);
        EXPECT_EQ(kind.n_major, n_major);
        EXPECT_EQ(icode_name(icode), name + (f16 ? "_f16" : "_bf16") + (n_major ? "_nmajor" : "_kmajor"));
      }
  EXPECT_TRUE(Kind(kIcode_gemm_general_f32).exact);
  EXPECT_TRUE(Kind(kIcode_gemm_general_f16).general && Kind(kIcode_gemm_general_f16).f16);
  EXPECT_FALSE(is_product(kIcode_elementwise));
}

TEST(Tile, one_whose_ring_does_not_lie_in_the_pages_does_not_fit) {
  Tile tile = tile_of(TileName::gemm);
  EXPECT_TRUE(tile.fits());
  tile.stages = 6;
  EXPECT_FALSE(tile.fits());
  tile = tile_of(TileName::gemm);
  tile.placement = Placement::together;
  EXPECT_FALSE(tile.fits());
  tile = tile_of(TileName::gemm_narrow);
  tile.stages = 7;  // the page of the sums
  EXPECT_FALSE(tile.fits());
}

}  // namespace
}  // namespace megakittens::ops::gemm
