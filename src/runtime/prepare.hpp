// From a graph to a program: passes, then the schedule. The one place that the command line, the C++ API and Python
// share.
#pragma once

#include "schedule/schedule.hpp"

namespace megakittens::runtime {

/// eager: every operation's result is rounded to its type, as PyTorch's eager does; fused: chains keep fp32 between.
enum class Numerics : std::uint8_t { eager, fused };
/// "eager", "fused". Throws OptionError listing both.
Numerics parse_numerics(std::string_view text);

struct PrepareOptions {
  program::Architecture architecture = program::Architecture::sm_90a;
  /// 0: usual_sms(architecture).
  std::uint32_t sms = 0;
  std::uint32_t cluster = 2;
  program::QueueMode queue = program::QueueMode::per_sm;
  ops::Tiling tiling = ops::Tiling::automatic;
  bool fusion = true;
  Numerics numerics = Numerics::eager;
};

/// 132 for sm_90a, 148 for sm_100a.
std::uint32_t usual_sms(program::Architecture architecture);

/// The graph that is scheduled: what the passes make of it where fusion is on.
ir::Graph optimise(const ir::Graph& graph, const PrepareOptions& options);

/// Throws as schedule::schedule does.
program::Program prepare(const ir::Graph& graph, const PrepareOptions& options = {});

}  // namespace megakittens::runtime
