// A CUDA driver without a GPU: device memory is the host's, and kernels run on the emulator, or only count.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/driver.hpp"

namespace megakittens::stand_in {

struct Graph {
  std::vector<std::function<int()>> nodes;
};

struct Stream {
  std::uint64_t number = 0;
  std::uint64_t capture = 0;  // number of the capture, or 0
  Graph* graph = nullptr;
};

/// Settings by name, and in the variable MK_STAND_IN ("emulate=1,sms=4") for programs that tests start: "devices",
/// "major", "minor", "sms", "version", "memory" (bytes that may be allocated), "emulate", "emulate_first" (so many
/// launches are emulated, and the rest only counted; 0: all), "load_result" and "launch_result" (what these calls
/// return). Counts by name: every driver function called, "cooperative launches", and "bytes" now
/// allocated.
struct State {
  std::recursive_mutex mutex;
  std::map<std::string, std::int64_t> settings = {
      {"devices", 1},        {"major", 9},   {"minor", 0},       {"sms", 132},         {"version", 13000},
      {"memory", 1ll << 34}, {"emulate", 0}, {"load_result", 0}, {"launch_result", 0},
  };
  std::map<std::string, std::int64_t> counts;
  std::map<std::uintptr_t, std::size_t> allocations;
  std::map<std::uintptr_t, std::size_t> foreign;  // memory of others that kernels may touch
  std::uint64_t streams = 1;
  std::uint64_t captures = 0;
  std::uint64_t capturing = 0;               // streams
  std::vector<runtime::CuContext> contexts;  // a stack; the stand-in has one for all threads
  std::string report;                        // of the last emulated launch that went wrong
};
State& state();

/// Runs the interpreter on the emulator. `parameters` are a program::LaunchParameters.
int emulate(const runtime::CuLaunchConfig& config, const void* parameters);

}  // namespace megakittens::stand_in
