// From a graph to a program: passes, then the schedule. The one place that the command line, the C++ API and Python
// share.
#pragma once

#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"

namespace megakittens::runtime {

struct PrepareOptions {
  program::Architecture architecture{};
  /// 0: as many as the target usually has.
  std::uint32_t sms = 0;
  std::uint32_t cluster = 2;
  program::QueueMode queue = program::QueueMode::per_sm;
  ops::Tiling tiling = ops::Tiling::automatic;
  /// `plan` is filled from the other members.
  passes::Options passes;
};

/// Throws as schedule::schedule does.
program::Program prepare(const ir::Graph& graph, const PrepareOptions& options = {});

}  // namespace megakittens::runtime
