// The 256-byte instruction: the contract between the scheduler and the interpreter. Plain structs, shared by host and
// device; the layout is pinned by the asserts at the end.
#pragma once

#include "support/integers.hpp"

namespace megakittens::program {

inline constexpr int kMaxIndices = 16;
inline constexpr int kMaxWaits = 9;
inline constexpr int kMaxArrivals = 8;

/// Which part of an instruction a wait holds back: bit i for operand i (operands 6 and later share bit 6), bit 7 for
/// its first write (reuse of storage). Only the role that touches the operand waits.
inline constexpr uint32_t kGuardShared = 6;
inline constexpr uint32_t kGuardWrite = 1u << 7;
inline constexpr uint32_t guard_bit(uint32_t operand) {
  return 1u << (operand < kGuardShared ? operand : kGuardShared);
}

/// Holds until counter `counter` shows `needed` of this launch's arrivals.
/// In launch number e (from 0) the target is e * arrivals + needed, compared modulo 2^32.
struct Wait {
  uint32_t counter;
  uint32_t needed;    ///< 1 .. arrivals
  uint32_t arrivals;  ///< how often the counter is raised in one launch
};

enum InstructionFlags : uint16_t {
  kFlagStop = 1,  ///< end of this CTA's list; nothing else in the instruction counts
};

/// Words: 0 icode and flags, 1 node record, 2 counts, 3 guards low, 4..19 indices, 20..46 waits, 47..54 arrivals,
/// 55..57 unused, 58..59 guards high, 60..61 release order, 62 spare, 63 own number.
struct Instruction {
  uint16_t icode;
  uint16_t flags;
  uint32_t node;  ///< index of the node record
  uint8_t index_count;
  uint8_t wait_count;
  uint8_t arrival_count;
  uint8_t reserved;
  uint8_t guards[4];           ///< guard masks of waits 0..3
  int32_t index[kMaxIndices];  ///< meaning: the instruction type's argument struct
  Wait waits[kMaxWaits];
  uint32_t arrivals[kMaxArrivals];  ///< counters raised by one once every write is complete and released for the GPU
  uint32_t unused[3];
  uint8_t guards_high[8];  ///< guard masks of waits 4 and later
  /// Four bits each: which logical page the instruction finishes first, second, ... The next instruction's logical page
  /// q is this one's q-th finished page.
  uint32_t release_order[2];
  uint32_t spare;
  uint32_t number;  ///< position in the program's instruction list, for reports

  uint32_t guard(int wait) const { return wait < 4 ? guards[wait] : guards_high[wait - 4]; }
};
inline constexpr uint32_t kNoNode = 0xffffffffu;
/// Pages finished in the order of their numbers.
inline constexpr uint64_t kReleaseInOrder = 0xfedcba9876543210u;

static_assert(sizeof(Wait) == 12);
static_assert(sizeof(Instruction) == 256);
static_assert(alignof(Instruction) == 4);
/// Word numbers by which the device reads the fields.
inline constexpr uint32_t kWordNode = 1;
inline constexpr uint32_t kWordCounts = 2;
inline constexpr uint32_t kWordGuards = 3;
inline constexpr uint32_t kWordIndex = 4;
inline constexpr uint32_t kWordWaits = 20;
inline constexpr uint32_t kWordArrivals = 47;
inline constexpr uint32_t kWordGuardsHigh = 58;
inline constexpr uint32_t kWordReleaseOrder = 60;
inline constexpr uint32_t kWordNumber = 63;

#if !defined(__CUDACC_RTC__)  // NVRTC has no offsetof; it compiles the same struct
static_assert(__builtin_offsetof(Instruction, node) == 4 * kWordNode);
static_assert(__builtin_offsetof(Instruction, index_count) == 4 * kWordCounts);
static_assert(__builtin_offsetof(Instruction, guards) == 4 * kWordGuards);
static_assert(__builtin_offsetof(Instruction, index) == 4 * kWordIndex);
static_assert(__builtin_offsetof(Instruction, waits) == 4 * kWordWaits);
static_assert(__builtin_offsetof(Instruction, arrivals) == 4 * kWordArrivals);
static_assert(__builtin_offsetof(Instruction, guards_high) == 4 * kWordGuardsHigh);
static_assert(__builtin_offsetof(Instruction, release_order) == 4 * kWordReleaseOrder);
static_assert(__builtin_offsetof(Instruction, number) == 4 * kWordNumber);
#endif

}  // namespace megakittens::program
