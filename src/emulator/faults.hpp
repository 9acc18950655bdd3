// Faults that a test plants without editing sources: a twin called at one of these points does less than it should.
#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace megakittens::emulator {

enum class FaultPoint : std::uint8_t {
  kFenceProxyAsync,        // dropped (all three forms)
  kFenceProxyAsyncShared,  // dropped
  kFenceProxyAsyncGlobal,  // dropped
  kFenceMbarrierInit,      // dropped
  kFenceTensorMap,         // dropped
  kFenceAcqRel,            // dropped
  kBulkWaitGroup,          // wait_group becomes wait_group.read
  kBulkWaitGroupRead,      // dropped: what follows is an early release
  kWgmmaWaitGroup,         // dropped: what follows is an early release
  kWgmmaFence,             // dropped
  kTcgenFenceBefore,       // dropped
  kTcgenFenceAfter,        // dropped
  kTcgenWait,              // wait::ld and wait::st dropped
  kMbarrierWait,           // returns true at once and acquires nothing
  kRelease,                // red, atom and st lose their .release
  kAcquire,                // ld and atom lose their .acquire
  kRemoteArrive,           // .release.cluster becomes .release.cta
  kRemoteWait,             // .acquire.cluster becomes .acquire.cta
  kNamedBarrier,           // sync does not wait and acquires nothing; it still arrives
  kMbarrierArrive,         // dropped
  kMbarrierArriveTwice,    // one arrival too many
  kMbarrierExpect,         // expects half of the bytes
  kBulkCommit,             // dropped: the group stays open, and nobody can wait for it
  kTcgenCommit,            // arrives at once, not when the products are done
  kCounterWait,            // a load that acquires a counter (note_wait) returns the awaited value, and acquires nothing
  kCounterEquality,        // it returns less once the counter is past the target: like a loop that compares with ==
  kCountersLeft,           // counters start where an earlier launch left them, and its ticket is forgotten
  kDeclaredRegions,        // a type's declared regions lack their last row
};
inline constexpr int kFaultPoints = static_cast<int>(FaultPoint::kDeclaredRegions) + 1;
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
