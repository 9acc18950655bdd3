// From a graph to a program: passes, then the schedule. The one place that the command line, the C++ API and Python
// share.
#pragma once

#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"

namespace megakittens::runtime {

struct PrepareOptions {
  program::Architecture architecture = program::Architecture::sm_90a;
  /// 0: usual_sms(architecture).
  std::uint32_t sms = 0;
  std::uint32_t cluster = 2;
  program::QueueMode queue = program::QueueMode::per_sm;
  ops::Tiling tiling = ops::Tiling::automatic;
  /// `plan` is filled from the other members.
  passes::Options passes;
};

/// 132 for sm_90a, 148 for sm_100a.
std::uint32_t usual_sms(program::Architecture architecture);

/// Throws as schedule::schedule does.
program::Program prepare(const ir::Graph& graph, const PrepareOptions& options = {});

}  // namespace megakittens::runtime
