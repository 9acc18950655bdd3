// What the lanes of a warp do together: exchange, vote, and let one lane act. All lanes take part.
//   lane_index()               0 to 31
//   shuffle_xor(x, mask)       the value of lane (index ^ mask); mask is the same in all lanes
//   shuffle_index(x, lane)     the value of lane % 32
//   ballot, any, all           of a mask; the same result in all lanes
//   warp_uniform(x)            a value that all lanes agree on, as a plain T that the compiler knows to be uniform
//   one_lane(f)                f runs in one lane, always the same one. Accesses of all lanes before it precede f's,
//                              and f's precede all lanes' later ones. Bulk groups belong to that lane.
//   one_lane_value(f)          the same; every lane gets what f returned, a word of 4 or 8 bytes
#pragma once

#include "device/core/lanes.cuh"
#if MK_ON_GPU
#include "device/core/gpu/warp.cuh"
#else
#include "device/core/host/warp.cuh"
#endif
#include "device/core/math.cuh"

namespace megakittens::device {

/// The sum of all lanes in every lane. Always added in the same order.
MK_DEVICE Lanes<float> warp_sum(Lanes<float> x) {
  MK_UNROLL for (uint32_t step = 16; step > 0; step /= 2) x = x + shuffle_xor(x, step);
  return x;
}

/// The largest of all lanes in every lane; NaN if one is.
MK_DEVICE Lanes<float> warp_max(Lanes<float> x) {
  MK_UNROLL for (uint32_t step = 16; step > 0; step /= 2) x = max(x, shuffle_xor(x, step));
  return x;
}

}  // namespace megakittens::device
