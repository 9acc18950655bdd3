// The interpreter's entry for Hopper.
#pragma once

#include "interpreter/kernel.cuh"
#include "ops/sm90/set.cuh"

namespace megakittens::interpreter {

using HopperBuild = device::HopperProducts;

/// 384 threads, Layout<HopperBuild>::kBytes of dynamic shared memory.
MK_DEVICE void interpret_sm90(const program::LaunchParameters& launch) {
  interpret<HopperBuild, ops::sm90::Set>(launch);
}

}  // namespace megakittens::interpreter
