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
  kShape,  ///< eight bits each: operands (five bits), pages of staging (two) and kNarrow; blocks of a piece; stages of
           ///< the ring; stages of a page
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
/// Bytes of an element of all inputs together, scalars apart: what three staging pages hold of eight warps' narrow
/// blocks, should all of them be gathered.
inline constexpr int kMostInputBytes = 24;
/// Bytes of an element of gathered inputs with which eight warps' blocks fill a page; narrow blocks take twice as many.
inline constexpr int kStagingBytesOfPage = 4;

/// Where the code needs more than kWideTemporaries, lanes hold sixteen values instead of 32.
inline constexpr uint32_t kNarrow = 0x80;
inline constexpr int kWideTemporaries = 1;

/// How an operand moves. Dense inputs come into a stage of the ring; those of the other modes, but for scalars, are
/// gathered by the consumers into staging pages.
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

/// Where an instruction begins, by its words kBeginLow and kBeginHigh.
inline constexpr uint64_t begin_of(int32_t low, int32_t high) {
  return uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low);
}

}  // namespace megakittens::ops::elementwise
