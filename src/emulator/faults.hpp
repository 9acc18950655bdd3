// Faults that a test plants without editing sources: a twin called at one of these points does less than it should.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace megakittens::emulator {

enum class FaultPoint : std::uint8_t {
  kFenceProxyAsync,        // dropped (all three forms)
  kFenceProxyAsyncShared,  // dropped
  kFenceProxyAsyncGlobal,  // dropped
  kFenceMbarrierInit,      // dropped
  kFenceAcqRel,            // dropped
  kBulkWaitGroup,          // wait_group becomes wait_group.read
  kBulkWaitGroupRead,      // dropped: what follows is an early release
  kWgmmaWaitGroup,         // dropped: what follows is an early release
  kWgmmaFence,             // dropped
  kTcgenFenceBefore,       // dropped
  kTcgenFenceAfter,        // dropped
  kTcgenWait,              // wait::ld and wait::st dropped
  kMbarrierWait,           // answers true at once and acquires nothing
  kRelease,                // red, atom and st lose their .release
  kAcquire,                // ld and atom lose their .acquire
  kRemoteArrive,           // .release.cluster becomes .release.cta
  kRemoteWait,             // .acquire.cluster becomes .acquire.cta
  kNamedBarrier,           // sync does not wait and acquires nothing; it still arrives
};
const char* name_of(FaultPoint point);

struct PlantedFault {
  FaultPoint point;
  int cta = -1;           // -1: any
  int warp = -1;          // -1: any
  std::string role = {};  // empty: any
  std::int64_t nth = -1;  // the n-th matching call from zero; -1: all of them
};

class FaultTable {
 public:
  explicit FaultTable(const std::vector<PlantedFault>& faults);
  bool empty() const { return faults_.empty(); }
  /// Whether this call is to be spoilt; counts the call.
  bool hits(FaultPoint point, std::uint32_t cta, std::uint32_t warp, const char* role);

 private:
  struct Entry {
    PlantedFault fault;
    std::int64_t calls;
  };
  std::vector<Entry> faults_;
};

}  // namespace megakittens::emulator
