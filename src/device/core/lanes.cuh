// Lanes<T>: one value in each lane of a warp. Control flow above this layer is the same in all lanes of a warp; what
// differs by lane is data of this type, and divergent effects are masks (Lanes<bool>) or one_lane (warp.cuh).
// On the GPU Lanes<T> is T. On the host it holds 32 values and every operator works on all of them under C++'s rules
// for T.
#pragma once

#include "device/core/target.cuh"
#if MK_ON_GPU
#include "device/core/gpu/lanes.cuh"
#else
#include "device/core/host/lanes.cuh"
#endif

namespace megakittens::device {

/// N consecutive 32-bit words in each lane: what the vector loads and stores move.
template <int N>
struct Words {
  Lanes<uint32_t> w[N];
};

}  // namespace megakittens::device
