// Interpreter builds: what is fixed when the interpreter is compiled, and where things lie in shared memory.
#pragma once

#include "device/core/types.cuh"
#include "program/node_record.hpp"
#include "program/targets.hpp"

namespace megakittens::device {

/// Warps 0 to 7 are consumers in two warpgroups; one warp each for the other roles follows.
inline constexpr uint32_t kConsumerWarps = 8;
inline constexpr uint32_t kControllerWarp = 8;
inline constexpr uint32_t kLoaderWarp = 9;
inline constexpr uint32_t kFollowerWarp = 10;
inline constexpr uint32_t kStorerWarp = 11;
inline constexpr uint32_t kLauncherWarp = 12;

/// A family's interpreter.
template <const program::Family& F>
struct Build {
  static constexpr uint32_t kWarps = F.warps;
  static constexpr bool kLauncher = F.tensor_memory;
  static constexpr uint32_t kPages = F.pages;
  static constexpr uint32_t kPageBytes = F.page_bytes;
  static constexpr uint32_t kSlots = F.slots;
};

/// Stages of the ring by which loader and follower hand operands to consumers: more than any type keeps in flight.
inline constexpr uint32_t kRingStages = 8;

/// Arrivals that fill an accumulator: the commit of its products, and the launcher's own.
inline constexpr uint32_t kAccumulatorFills = 2;

/// Byte offsets from the 1024-aligned start of dynamic shared memory: pages, then slots, then mbarriers.
template <class B>
struct Layout {
  static constexpr uint32_t kSlots = B::kPages * B::kPageBytes;
  // Inside a slot, after the instruction's 256 bytes:
  static constexpr uint32_t kPageMap = 256;  ///< four bits a logical page
  static constexpr uint32_t kCodeCount = 264;
  static constexpr uint32_t kWindows = 272;  ///< OperandWindow of each operand
  static constexpr uint32_t kWindowBytes = 24;
  static constexpr uint32_t kCode = kWindows + program::kMaxOperands * kWindowBytes;
  static constexpr uint32_t kConstants = kCode + program::kMaxCode * 4;
  static constexpr uint32_t kSlotBytes = kConstants + program::kMaxConstants * 4;
  static_assert(kSlotBytes % 16 == 0 && kWindows % 8 == 0);
  static constexpr uint32_t kBarriers = kSlots + B::kSlots * kSlotBytes;
  static constexpr uint32_t kSlotReady = kBarriers;
  static constexpr uint32_t kSlotDone = kSlotReady + 8 * B::kSlots;
  static constexpr uint32_t kWritable = kSlotDone + 8 * B::kSlots;
  static constexpr uint32_t kWritten = kWritable + 8 * B::kSlots;
  static constexpr uint32_t kPageFree = kWritten + 8 * B::kSlots;
  static constexpr uint32_t kStageFull = kPageFree + 8 * B::kPages;
  static constexpr uint32_t kStageFree = kStageFull + 8 * kRingStages;
  static constexpr uint32_t kTileDone = kStageFree + 8 * kRingStages;
  static constexpr uint32_t kProductsDone = kTileDone + 8 * kRingStages;  ///< launcher: one a commit, in turn
  static constexpr uint32_t kAccumulatorFull = kProductsDone + 8 * kRingStages;
  static constexpr uint32_t kAccumulatorFree = kAccumulatorFull + 8;
  static constexpr uint32_t kTensorMemory = kAccumulatorFree + 8;  ///< address that tcgen05.alloc wrote
  static constexpr uint32_t kEpoch = kTensorMemory + 8;            ///< launches on this workspace before this one
  static constexpr uint32_t kAdmission = kEpoch + 4;               ///< interpreter::Admission of this CTA
  static constexpr uint32_t kMeeting = kEpoch + 8;                 ///< mbarrier of all consumer warps
  static constexpr uint32_t kExpired = kMeeting + 8;               ///< sixteen bytes a warp: see expire() in waits.cuh
  static constexpr uint32_t kBytes = kExpired + 16 * B::kWarps;

  /// Roles that report an instruction's end to the controller: consumers' warps, loader, follower, storer, launcher.
  static constexpr uint32_t kDoneArrivals = kConsumerWarps + 3 + (B::kLauncher ? 1 : 0);
  static_assert(kBytes <= 232448, "a CTA has 227 KB of shared memory");
};

}  // namespace megakittens::device
