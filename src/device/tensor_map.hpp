// The 128-byte object that bulk tensor copies name. What lies inside is the machine's business: the driver's words on
// the GPU, TensorMapFields (tensor_map_fields.hpp) on the host.
#pragma once

#include "device/core/types.cuh"

namespace megakittens::device {

struct alignas(64) TensorMap {
  uint64_t words[16];
};
static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64);

}  // namespace megakittens::device
