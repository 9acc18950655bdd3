// Index words of the elementwise type, and how its operands move. Shared by host and device.
#pragma once

#include "program/node_record.hpp"

namespace megakittens::ops::elementwise {

/// instruction.index. The instruction covers `kElements` elements of the record's space in row-major order, from
/// element kBeginLow + 2^32 * kBeginHigh on, whose position in the four dimensions the next words say. The first two
/// words are 0: operands' windows begin at the space's first element.
enum Index {
  kOuter0,
  kOuter1,
  kBeginLow,
  kBeginHigh,
  kElements,
  kFirst0,
  kFirst1,
  kFirstRow,
  kFirstColumn,
  kShape,  ///< number of operands, pages of staging (two bits from the sixth on) and kNarrow, blocks of a piece, stages
           ///< of the ring, stages of a page: eight bits each
  kModesLow,
  kModesHigh,  ///< each operand's Mode, four bits
  kWidth,      ///< where not 0, the elements are rows of so many columns from the first one's column on
  kWidthMagic,
  kWidthShift,
  kIndexCount
};

/// What a warp computes at once: each lane's 32 values are four runs of eight neighbours, 256 elements apart.
inline constexpr uint32_t kBlock = 1024;
/// Instructions cover multiples of so many elements (16 bytes of the narrowest type), but for the tail of the space.
inline constexpr uint32_t kGrain = 16;
inline constexpr uint32_t kMostElements = 16 * 8192;
/// Of an element of all inputs together. Gathered ones have half of it in three pages; narrow blocks the whole.
inline constexpr int kMostInputBytes = 24;
/// Of an element of gathered inputs: eight warps' blocks of them fill a page.
inline constexpr int kStagingBytesOfPage = 4;

/// Where the code needs more than kWideTemporaries, lanes hold sixteen values instead of 32.
inline constexpr uint32_t kNarrow = 0x80;
inline constexpr int kWideTemporaries = 1;

/// How an operand moves. Inputs lie in a stage of the ring while they are used, but for scalars.
enum Mode : uint32_t {
  kByElements,   ///< one by one, where its strides say
  kScalar,       ///< one element serves all: inputs
  kConstantRun,  ///< one element a run: the last stride is 0, and rows are whole runs. Inputs
  kVectorRun,    ///< 16 bytes at once: the last stride is 1, rows are whole runs, and every run is aligned
  kDense,        ///< lies as the space's row-major order does, 16-byte aligned: inputs come by bulk copies
};

/// record.parameters: the space's columns, rows and second dimension, and by which numbers and shifts to multiply and
/// shift in order to divide 31-bit numbers by them.
enum Parameter { kColumns, kRows, kSecond, kColumnsMagic, kRowsMagic, kSecondMagic, kShifts };

/// x / divisor = x * magic >> shift for every x below 2^31; the divisor is at least 1.
struct Division {
  uint32_t magic;
  uint32_t shift;
  static constexpr Division by(uint32_t divisor) {
    uint32_t bits = 0;
    while ((uint64_t{1} << bits) < divisor) ++bits;
    return {static_cast<uint32_t>(((uint64_t{1} << (31 + bits)) + divisor - 1) / divisor), 31 + bits};
  }
};

}  // namespace megakittens::ops::elementwise
