// What the emulator can find, each with the row of docs/concepts/memory-model.md that it belongs to.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

enum class Rule : std::uint8_t {
  kUnwaitedLoad,           // row 1
  kPageOverwritten,        // row 2
  kReaderFence,            // row 2, strict builds only
  kWriterFence,            // row 3
  kReleasedUnderWgmma,     // row 4
  kReleasedUnderTcgen,     // row 5
  kProxyFenceShared,       // row 6
  kReleasedUnderStore,     // row 7
  kStoreNotComplete,       // row 8
  kProxyFenceGlobalAsync,  // row 9
  kNotReleased,            // row 10
  kProxyFenceGlobal,       // row 11
  kReusedUnderReader,      // row 12
  kReductionMixed,         // row 13
  kBarrierNotPublished,    // row 14
  kBarrierMisuse,          // row 15
  kClusterScope,           // row 16
  kTensorMapFence,         // row 18
  kTensorNotCommitted,     // row 19
  kTensorReused,           // rows 20, 21
  kClusterExit,            // row 24
  kAccumulatorInFlight,    // row 25
  kMulticastToken,         // row 26
  kOrdinaryRace,           // two ordinary accesses of one CTA without a barrier between them
  kConstantWritten,
  kLappedWaiter,
  kUnwritten,
  kOutOfBounds,
  kBarrierOverwritten,
  kNamedBarrierMisuse,
  kTensorMemoryMisuse,
  kBadOperand,  // a descriptor, map, size or alignment the hardware would refuse
  kUnfinished,  // a warp left with asynchronous work of its own still running
  kUndeclared,  // memory outside the regions that the instruction's type declares
};

struct RuleText {
  const char* name;
  int row;  // of the hand-off table; 0 where the rule has no row
  const char* what;
};
const RuleText& text_of(Rule rule);
/// Whether the rule is about the order of two accesses; other rules concern a single operation.
bool is_about_order(Rule rule);

}  // namespace megakittens::emulator
