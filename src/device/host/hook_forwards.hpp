// Defines every hook as a call through a table: included once by a library that holds device code and no machine.
#pragma once

#include "device/host/hook_table.hpp"

namespace megakittens::device::host {

inline const HookTable* bound_hooks = nullptr;

/// Around a hook the machine sees this library's single_lane_depth, and after it, when other warps may have run, this
/// warp's is as it was.
class LaneDepth {
 public:
  LaneDepth() { *bound_hooks->lane_depth() = depth_; }
  ~LaneDepth() { single_lane_depth = depth_; }
  LaneDepth(const LaneDepth&) = delete;
  LaneDepth& operator=(const LaneDepth&) = delete;

 private:
  std::uint32_t depth_ = single_lane_depth;
};

#define MK_X(result, name, parameters, arguments) \
  result name parameters {                        \
    const LaneDepth depth;                        \
    return bound_hooks->name arguments;           \
  }
MK_HOOKS(MK_X)
#undef MK_X

void trap() {
  bound_hooks->trap();
  __builtin_unreachable();
}

}  // namespace megakittens::device::host
