// The interpreter's entry for Blackwell.
#pragma once

#include "interpreter/kernel.cuh"
#include "ops/sm100/set.cuh"

namespace megakittens::interpreter {

using BlackwellBuild = device::BlackwellProducts;

/// 512 threads, Layout<BlackwellBuild>::kBytes of dynamic shared memory.
MK_DEVICE void interpret_sm100(const program::LaunchParameters& launch) {
  interpret<BlackwellBuild, ops::sm100::Set>(launch);
}

}  // namespace megakittens::interpreter
