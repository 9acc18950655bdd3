// What a warp (or a synchronisation object) knows to have happened. Two levels: the CTA's own clock in full, other CTAs
// by release numbers whose snapshots the checker keeps. Beside each lies what the async proxy may rely on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/checker/clock.hpp"

namespace megakittens::emulator {

/// For each releaser (dense number) the last release known; shared and never changed once made.
using Foreign = std::shared_ptr<const std::vector<std::uint32_t>>;

/// The larger of both, component by component; returns one of the arguments itself where it covers the other.
Foreign join(const Foreign& a, const Foreign& b);

Foreign meet(const Foreign& a, const Foreign& b);

/// Ticks of the CTA's sixteen warps: the only components that proxy fences concern, since completions reach both
/// proxies.
using WarpTicks = std::array<std::uint32_t, component::kMaxWarps>;

struct View {
  Clock local;
  WarpTicks
      async_shared{};  // ordinary accesses to shared memory that a proxy fence has made visible to the async proxy
  WarpTicks async_global{};
  Foreign foreign;
  Foreign foreign_async_global;
  // tcgen05.fence::after_thread_sync copies these: what later tcgen05 operations of the warp may rely on. Not handed
  // over.
  Clock tensor;
  Foreign foreign_tensor;

  /// Knowledge that a synchronisation inside the CTA hands over.
  void join(const View& other);
  /// Keeps what both know: the view of an operation that several warps issue together.
  void meet(const View& other);
  /// Knowledge of other CTAs gained by an acquire: reaches the generic proxy only (rows 9, 11).
  void join_foreign(const Foreign& other);
};

/// Releases between CTAs: each has a number within its releaser and a snapshot of what the releaser knew of its own
/// CTA.
class Releases {
 public:
  struct Snapshot {
    Clock local;
    WarpTicks async_shared;
  };

  /// Appends a release of (cta, releaser) and returns everything an acquire of it learns.
  Foreign publish(std::uint16_t cta, std::uint32_t releaser, const View& view);
  /// Whether `foreign` holds a release of `cta` that knew `tick` of `component`. With `fenced`, ordinary accesses only
  /// count where their writer had fenced them for the async proxy.
  bool knows(const Foreign& foreign, std::uint16_t cta, std::uint32_t component, std::uint32_t tick, bool fenced) const;
  /// What `foreign` knows about a CTA, joined into a clock of that CTA.
  void join_into(Clock& clock, const Foreign& foreign, std::uint16_t cta) const;

 private:
  struct Releaser {
    std::vector<Snapshot> snapshots;  // release r is at r - 1
  };
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // (cta, releaser) -> dense number
  std::vector<Releaser> releasers_;
  std::vector<std::vector<std::uint32_t>> of_cta_;
};

}  // namespace megakittens::emulator
