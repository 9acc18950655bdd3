// Faults that a test plants without editing sources: a twin called at one of these points does less than it should.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace megakittens::emulator {

// X(enumerator, name): each call, and what the twin does instead.
#define MK_FAULT_POINTS(X) \
  X(kFenceProxyAsync, "fence.proxy.async") /* dropped (all three forms) */ \
  X(kFenceProxyAsyncShared, "fence.proxy.async.shared::cta") /* dropped */ \
  X(kFenceProxyAsyncGlobal, "fence.proxy.async.global") /* dropped */ \
  X(kFenceMbarrierInit, "fence.mbarrier_init") /* dropped */ \
  X(kFenceTensorMap, "fence.proxy.tensormap") /* dropped */ \
  X(kFenceAcqRel, "fence.acq_rel") /* dropped */ \
  X(kBulkWaitGroup, "cp.async.bulk.wait_group") /* wait_group becomes wait_group.read */ \
  X(kBulkWaitGroupRead, "cp.async.bulk.wait_group.read") /* dropped: what follows is an early release */ \
  X(kWgmmaWaitGroup, "wgmma.wait_group") /* dropped: what follows is an early release */ \
  X(kWgmmaFence, "wgmma.fence") /* dropped */ \
  X(kTcgenFenceBefore, "tcgen05.fence::before_thread_sync") /* dropped */ \
  X(kTcgenFenceAfter, "tcgen05.fence::after_thread_sync") /* dropped */ \
  X(kTcgenWait, "tcgen05.wait") /* wait::ld and wait::st dropped */ \
  X(kMbarrierWait, "mbarrier.try_wait") /* returns true at once and acquires nothing */ \
  X(kRelease, ".release") /* red, atom and st lose their .release */ \
  X(kAcquire, ".acquire") /* ld and atom lose their .acquire */ \
  X(kRemoteArrive, "mbarrier.arrive.release.cluster") /* .release.cluster becomes .release.cta */ \
  X(kRemoteWait, "mbarrier.try_wait.acquire.cluster") /* .acquire.cluster becomes .acquire.cta */ \
  X(kNamedBarrier, "barrier.sync") /* sync does not wait and acquires nothing; it still arrives */ \
  X(kMbarrierArrive, "mbarrier.arrive") /* dropped */ \
  X(kMbarrierArriveTwice, "mbarrier.arrive twice") /* one arrival too many */ \
  X(kMbarrierExpect, "mbarrier.expect_tx") /* expects half of the bytes */ \
  X(kBulkCommit, "cp.async.bulk.commit_group") /* dropped: the group stays open, and nobody can wait for it */ \
  X(kTcgenCommit, "tcgen05.commit") /* arrives at once, not when the products are done */ \
  X(kCounterWait, "wait for a counter") /* a load that acquires a counter (note_wait) returns the awaited value, and acquires nothing */ \
  X(kCounterEquality, "counter compared with ==") /* it returns less once the counter is past the target: like a loop that compares with == */ \
  X(kCountersLeft, "counters left over") /* counters start where an earlier launch left them, and its ticket is forgotten */ \
  X(kDeclaredRegions, "declared regions") /* a type's declared regions lack their last row */

enum class FaultPoint : std::uint8_t {
#define MK_X(enumerator, name) enumerator,
  MK_FAULT_POINTS(MK_X)
#undef MK_X
};
#define MK_X(enumerator, name) +1
inline constexpr int kFaultPoints = 0 MK_FAULT_POINTS(MK_X);
#undef MK_X
const char* name_of(FaultPoint point);

struct PlantedFault {
  FaultPoint point;
  int cta = -1;             // -1: any
  int warp = -1;            // -1: any
  std::string role = {};    // empty: any
  std::string object = {};  // of an mbarrier, by the name given in name_shared, without the number; empty: any
  std::int64_t nth = -1;    // the n-th matching call from zero; -1: all of them
};

/// Where a run could have been spoilt: calls of one kind by one role.
struct FaultPlace {
  FaultPoint point;
  std::string role;
  std::string object;  // without its number
  auto operator<=>(const FaultPlace&) const = default;
};

class FaultTable {
 public:
  /// `survey`: keep the places that calls come from.
  FaultTable(const std::vector<PlantedFault>& faults, bool survey);
  /// Whether calls need to be counted at all.
  bool empty() const { return faults_.empty() && !survey_; }
  /// Whether this call is to be spoilt; counts the call. `object` is "name[number]", or empty.
  bool hits(FaultPoint point, std::uint32_t cta, std::uint32_t warp, const char* role, const std::string& object);
  /// In ascending order.
  std::vector<FaultPlace> places() const { return {places_.begin(), places_.end()}; }

 private:
  struct Entry {
    PlantedFault fault;
    std::int64_t calls;
  };
  std::vector<Entry> faults_;
  bool survey_;
  std::set<FaultPlace> places_;
};

}  // namespace megakittens::emulator
