// Index words and node parameters of permutations. Shared by host and device.
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops::permute {

/// instruction.index: the first element of the instruction's box in the four record dimensions, its extents, and how
/// many tiles that is. They are walked with the last dimension the fastest.
enum Index { kOrigin = 0, kExtent = 4, kGrid = 8, kIndexWords = 12 };

/// record.parameters. Dimensions of the record follow the output's order, the last one the fastest.
enum Parameter {
  kTileOuter,     ///< a tile's extents in dimensions 0 and 1, 16 bits each
  kTileInner,     ///< and in 2 and 3
  kStridesOuter,  ///< bytes between neighbours of the tile in shared memory, dimensions 0 and 1, 16 bits each
  kStridesInner,  ///< and 2 and 3
  kInputSide,     ///< how a tile lies in the input, see Side
  kOutputSide,    ///< and in the output
  kGather,        ///< how shared memory is read, see Gather
};

/// record.reserved: pairs of extents, 16 bits each, and reciprocals (see reciprocal_of) of what the device divides by.
enum Derived {
  kInputRuns,  ///< elements of a run, and of its dimensions but the last
  kInputRows,  ///< extents of x and y
  kOutputRuns,
  kOutputRows,
  kByInputRun,      ///< elements of a run
  kByInputVectors,  ///< vectors of a run
  kByInputX,
  kByOutputRun,
  kByOutputVectors,
  kByOutputX,
  kByOutputBlocks,  ///< of x, in each of which a word has neighbours
  kByLast,          ///< extent of the record's last dimension
  kByBefore,        ///< of the one before
  kDerivedWords
};
static_assert(kDerivedWords <= 16);

/// x / d is x * reciprocal_of(d) >> 31 as long as x * d is below 2^31.
constexpr uint32_t reciprocal_of(uint32_t divisor) {
  return (0x80000000u + divisor - 1) / divisor;
}

/// A tile is moved in runs: as many of a side's fastest dimensions as lie whole and dense inside each other. Runs are
/// counted by up to two row dimensions, x the faster; kNone where there is none.
struct Side {
  uint32_t order;  ///< dimensions, fastest first, four bits each
  uint32_t run;    ///< how many of them make a run, 1 to 3
  uint32_t x, y;
};
inline constexpr uint32_t kNone = 4;
constexpr uint32_t side_word(const Side& side) {
  return side.order | side.run << 16 | side.x << 20 | side.y << 24;
}
constexpr Side side_of(uint32_t word) {
  return {.order = word & 0xffff, .run = word >> 16 & 15, .x = word >> 20 & 15, .y = word >> 24 & 15};
}

/// A tile lies in shared memory in the input's order, dense but for 16 bytes after each 2^pad bytes. The output's runs
/// are gathered in units of 2^unit bytes, which lie together in both.
struct Gather {
  uint32_t unit;
  bool linear;      ///< the units of a run have one stride
  bool wide;        ///< neighbours in x are neighbours in memory: words are read, not single elements
  uint32_t pad;     ///< 31 where there is no padding
  uint32_t stride;  ///< bytes between units of a linear run

  /// Runs lie in shared memory as they do in the output. There is no padding then.
  constexpr bool contiguous() const { return linear && stride == 1u << unit; }
};
/// Rows that lie in a word, where it is read.
constexpr uint32_t rows_of_word(const Gather& gather) {
  return gather.wide && gather.unit == 1 ? 2 : 1;
}
constexpr uint32_t gather_word(const Gather& gather) {
  return gather.unit | uint32_t{gather.linear} << 4 | uint32_t{gather.wide} << 5 | gather.pad << 8 |
         gather.stride << 16;
}
constexpr Gather gather_of(uint32_t word) {
  return {.unit = word & 15,
          .linear = (word >> 4 & 1) != 0,
          .wide = (word >> 5 & 1) != 0,
          .pad = word >> 8 & 31,
          .stride = word >> 16};
}

/// Every consumer warp has a tile of its own, of this many bytes at most on either side, in one of three parts of a
/// page. A cast's tile has half of it and arrives in the upper half of the part.
inline constexpr uint32_t kTileBytes = 8192;
inline constexpr uint32_t kTilesOfPage = 3, kPages = 3, kTilePitch = 10880;
static_assert(kTilesOfPage * kPages >= 8 && kTilePitch % 32 == 0);
static_assert(kTilePitch >= kTileBytes + kTileBytes / 128 * 16);

constexpr uint32_t tile_bytes(bool cast) {
  return cast ? kTileBytes / 2 : kTileBytes;
}
/// Elements that a lane loads at once, 16 bytes; runs hold whole ones, and of casts whole runs of eight.
constexpr uint32_t vector_elements(uint32_t element_bytes) {
  return 16 / element_bytes;
}

}  // namespace megakittens::ops::permute
