// Running a kernel on the emulated machine: what to launch, and with which chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emulator/faults.hpp"
#include "emulator/interleaving.hpp"
#include "emulator/report.hpp"

namespace megakittens::emulator {

enum class Contents : std::uint8_t {
  kReadOnly,     // initialised, and a write is a finding
  kInitialised,  // reads before any write are right
  kUnwritten,    // a read before a write is a finding
};

/// Host memory that the kernel may touch as global memory. Everything else is out of bounds.
struct GlobalBuffer {
  std::string name = {};
  void* data = nullptr;
  std::size_t bytes = 0;
  Contents contents = Contents::kInitialised;
  int tag = -1;  // the caller's number for it, in findings and for Declared; buffers that share memory lose it
};

/// What instructions may touch. The checker queries it for each access to a tagged buffer by a warp that is annotated
/// with an instruction.
class Declared {
 public:
  virtual ~Declared() = default;
  virtual bool covers(int tag, std::int64_t instruction, bool write, std::uint64_t offset, std::uint64_t bytes) = 0;
};

struct LaunchConfig {
  std::uint32_t grid = 1;          // CTAs, at most 148
  std::uint32_t cluster = 1;       // CTAs a cluster: 1 or 2; divides the grid
  std::uint32_t warps = 1;         // per CTA, at most 16
  std::uint32_t shared_bytes = 0;  // dynamic, at most 227 KB
  std::vector<GlobalBuffer> buffers;
  std::uint64_t seed = 1;  // a run is a function of kernel, memory, seed and interleaving options
  InterleavingOptions interleaving;
  bool check = true;             // happens-before checker
  bool strict = false;           // also require the fences that production omits (row 2; row 6 by each writer)
  bool arithmetic = true;        // false: products compute nothing, for exploring schedules
  bool expire_waits = false;     // when nothing can move, let bounded waits expire instead of reporting a deadlock
  bool spin = false;             // polling warps do not park: slow, but time passes for them while others work
  std::uint64_t step_limit = 0;  // 0: none
  std::size_t stack_bytes = 256 * 1024;
  std::size_t max_findings = 20;
  std::vector<PlantedFault> faults;
  bool survey = false;           // list in the report where faults could be planted
  Declared* declared = nullptr;  // null: everything may be touched
  std::function<void()> poll;    // called from time to time if set; its exception ends the run and propagates
};

/// One call per warp; `params` is what the launch passes.
using Kernel = void (*)(const void* params);

/// Runs the grid to its end, or until it is stuck. Throws OptionError for a launch the machine refuses; everything that
/// the kernel does wrong is in the report. One run at a time per thread.
Report run(const LaunchConfig& config, Kernel kernel, const void* params);

/// The same for a callable, which must outlive the call and is shared by all warps.
template <class F>
Report run(const LaunchConfig& config, const F& kernel) {
  return run(config, [](const void* f) { (*static_cast<const F*>(f))(); }, &kernel);
}

}  // namespace megakittens::emulator
