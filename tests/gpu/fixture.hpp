// What tests of programs on the GPU share: both queue modes, with clusters of one CTA and of two.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

#include "support/device_run.hpp"

namespace megakittens::test {

/// Skips where there is no GPU, or fails where MEGAKITTENS_REQUIRE_GPU is set.
class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string problem = gpu_problem();
    if (problem.empty()) return;
    if (std::getenv("MEGAKITTENS_REQUIRE_GPU") != nullptr) FAIL() << problem;
    GTEST_SKIP() << problem;
  }
};

struct Configuration {
  program::QueueMode queue;
  std::uint32_t cluster;

  /// `base` with this queue mode and cluster, its SMs rounded up to whole clusters.
  schedule::ScheduleOptions options(schedule::ScheduleOptions base = {}) const {
    base.config.queue = queue;
    base.config.cluster = cluster;
    base.config.sms = (base.config.sms + cluster - 1) / cluster * cluster;
    return base;
  }
  std::string text() const {
    return fmt::format("{}, cluster {}", queue == program::QueueMode::per_sm ? "per_sm" : "global", cluster);
  }
};

/// Every program runs in all four.
constexpr Configuration kConfigurations[] = {{program::QueueMode::per_sm, 1},
                                             {program::QueueMode::per_sm, 2},
                                             {program::QueueMode::global, 1},
                                             {program::QueueMode::global, 2}};

/// Launches twice: the second launch finds the workspace as the first one left it.
inline void expect_right(const ir::Graph& graph, const passes::Options& passes = {},
                         const schedule::ScheduleOptions& base = {}) {
  for (const Configuration& configuration : kConfigurations) {
    DeviceRun run(graph, configuration.options(base), passes);
    for (int launch = 0; launch < 2; ++launch) {
      run.restore_inputs();
      run.run();
      EXPECT_EQ(run.problem(), "") << configuration.text() << ", launch " << launch;
    }
  }
}

/// The name of a test's parameter: letters, digits and underscores.
inline std::string test_name(std::string text) {
  for (char& c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return text;
}

}  // namespace megakittens::test
