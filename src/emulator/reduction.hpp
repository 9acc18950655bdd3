// Element-wise addition into memory, as bulk reductions do it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/tensor_map_fields.hpp"

namespace megakittens::emulator {

/// to[i] += from[i] for elements of `type`, rounded to it; `bytes` of them.
void add_into(device::TensorMapType type, std::byte* to, const std::byte* from, std::uint32_t bytes);

}  // namespace megakittens::emulator
