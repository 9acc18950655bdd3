// One warp: its fibre, what it waits for, and what the checker knows about it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/checker/view.hpp"
#include "emulator/fibre.hpp"
#include "emulator/polls.hpp"

namespace megakittens::emulator {

struct Cta;
struct TensorTransfer;

// Why a warp is parked; the report of a deadlock names it.
enum class WaitKind : std::uint8_t {
  kNothing,
  kMbarrier,      // object: Mbarrier; value: parity
  kNamedBarrier,  // value: barrier number
  kClusterBarrier,
  kWords,         // value: address of the first polled word
  kBulkGroups,    // value: groups that may stay in flight; detail: 1 for .read
  kWgmmaGroups,   // value: groups that may stay in flight
  kTensorMemory,  // tcgen05.wait, or an allocation that finds no columns
  kRegisters,     // value: registers a lane that setmaxnreg requests
};

struct Wait {
  WaitKind kind = WaitKind::kNothing;
  const void* object = nullptr;
  std::uint64_t value = 0;
  std::uint64_t detail = 0;
};

/// Why a parked warp was woken.
enum class Wake : std::uint8_t {
  kSatisfied,  // what it waited for may have happened
  kExpired,    // virtual time went by
};

/// Bulk stores of one warp (its elected lane). Groups are numbered from 1; group open() is not yet committed.
struct BulkGroups {
  struct Pending {
    std::uint32_t unread = 0;      // operations that still read their source
    std::uint32_t incomplete = 0;  // operations not yet visible
  };
  std::uint32_t committed = 0;
  std::uint32_t read_through = 0;      // all groups up to this one have read their source
  std::uint32_t complete_through = 0;  // all groups up to this one are complete
  std::vector<Pending> pending;        // groups complete_through + 1 .. open(); the last one is open

  std::uint32_t open() const { return committed + 1; }
  Pending& group(std::uint32_t number);
  std::uint32_t unread() const;
  /// Recomputes both marks after a group changed.
  void settle();
};

/// What registers hold while an asynchronous operation is to write them: a NaN that nothing computes.
inline constexpr std::uint32_t kRegisterPoison = 0xffdeadbe;

struct Warp {
  Cta* cta = nullptr;
  std::uint32_t index = 0;
  Fibre fibre;
  Wait wait;
  Wake wake = Wake::kSatisfied;
  bool parked = false;
  bool finished = false;

  // For the chooser of the next mover (chooser.hpp).
  std::uint64_t priority = 0;
  std::uint64_t last_turn = 0;
  bool late = false;             // moves only when nobody else can
  std::uint32_t operations = 0;  // asynchronous ones that it has started

  // What the warp has polled without success since it last did anything else (see polls.hpp).
  std::vector<Look> looks;
  std::uint64_t parking = 0;  // number of the current parking; stale waiter entries carry an older one

  const char* role = nullptr;
  std::int64_t instruction = -1;
  const char* wait_note = nullptr;  // from note_wait: what the next waits are about
  std::uint64_t wait_target = 0;
  bool phase_meant = false;  // from mean_phase: which phase the next parity wait stands for
  std::uint32_t meant_phase = 0;

  std::uint32_t registers = 0;  // a lane; see setmaxnreg
  BulkGroups bulk;
  std::vector<Waiter> bulk_waiters;   // the warp itself, in wait_group
  std::uint32_t wgmma_committed = 0;  // groups of its warpgroup that this warp has committed
  bool wgmma_fenced = false;
  std::uint32_t accumulators_in_flight = 0;
  std::uint32_t tensor_issued = 0;                                // tcgen05.ld and .st so far
  std::uint32_t tensor_waited = 0;                                // of those, waited for
  std::vector<std::shared_ptr<TensorTransfer>> tensor_transfers;  // not yet waited for, in order
  std::vector<Waiter> tensor_waiters;
  bool cluster_arrived = false;
  std::uint64_t cluster_generation = 0;

  View view;
  std::uint32_t context = 0;
  bool wide_since_fence = false;  // the whole warp stored to shared memory since its last fence for the async proxy
  Foreign fence_release;          // what fence.acq_rel made ready for later relaxed writes to publish
  Foreign relaxed_seen;           // what relaxed loads saw released, for a later fence.acq_rel to acquire
};

}  // namespace megakittens::emulator
