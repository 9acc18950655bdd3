// Releases between CTAs: each has a number within its releaser and a snapshot of what the releaser knew of its own CTA.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/checker/view.hpp"

namespace megakittens::emulator {

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
