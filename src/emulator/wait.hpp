// Why a warp is parked: kept so that a deadlock can be told in words.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

enum class WaitKind : std::uint8_t {
  kNothing,
  kMbarrier,      // object: Mbarrier; value: parity
  kNamedBarrier,  // value: barrier number
  kClusterBarrier,
  kWords,         // value: address of the first polled word
  kBulkGroups,    // value: groups that may stay in flight; detail: 1 for .read
  kWgmmaGroups,   // value: groups that may stay in flight
  kTensorMemory,  // tcgen05.wait, or an allocation that finds no columns
  kRegisters,     // value: registers a lane that setmaxnreg asks for
};

struct Wait {
  WaitKind kind = WaitKind::kNothing;
  const void* object = nullptr;
  std::uint64_t value = 0;
  std::uint64_t detail = 0;
};

/// How a parked warp came back.
enum class Wake : std::uint8_t {
  kSatisfied,  // what it waited for may have happened
  kExpired,    // virtual time went by
};

}  // namespace megakittens::emulator
