// What emulator tests share: launching under many seeds, small waiting loops, and host-side reference data.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "device/core/float16.cuh"
#include "device/core/warp.cuh"
#include "device/host/annotate.cuh"
#include "device/machine.cuh"
#include "emulator/launch.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {

inline constexpr std::uint64_t kSeeds = 24;

template <class T>
GlobalBuffer buffer(const std::string& name, std::vector<T>& data, Contents contents = Contents::kInitialised) {
  return {name, data.data(), data.size() * sizeof(T), contents};
}

/// Runs under many seeds; `reset` before and `verify` after each run.
template <class Kernel, class Reset, class Verify>
void expect_good(LaunchConfig config, const Kernel& kernel, const Reset& reset, const Verify& verify) {
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    config.seed = seed;
    reset();
    const Report report = run(config, kernel);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << report.text();
    verify();
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      return;
    }
  }
}

/// Runs under many seeds with a fault planted. Every run must report one of `rules`, and some run the first of them:
/// where there are several, the schedule decides which of the two accesses comes second. Where a lapped waiter is one,
/// so is a deadlock: a warp that comes two phases late looks like one that waits for the next.
template <class Kernel, class Reset>
void expect_found(LaunchConfig config, const PlantedFault& fault, const std::vector<Rule>& rules, const Kernel& kernel,
                  const Reset& reset) {
  config.faults = {fault};
  bool first_seen = false;
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    config.seed = seed;
    reset();
    const Report report = run(config, kernel);
    const bool any = std::any_of(rules.begin(), rules.end(), [&](Rule rule) {
      return report.has(rule) || (rule == Rule::kLappedWaiter && !report.deadlock.empty());
    });
    ASSERT_TRUE(any) << "seed " << seed << ": " << text_of(rules[0]).name << " is missing from\n" << report.text();
    first_seen |= report.has(rules[0]);
  }
  EXPECT_TRUE(first_seen) << text_of(rules[0]).name << " was never reported";
}

inline void wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}

/// Initialises mbarriers in warp 0 and publishes them to the CTA (row 14).
template <class F>
void set_up(const F& init) {
  if (device::host::warp_index() == 0) {
    device::one_lane([&] {
      init();
      ptx::fence_mbarrier_init_release_cluster();
    });
  }
  ptx::bar_sync_all();
}

}  // namespace megakittens::emulator
