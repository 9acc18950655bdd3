// Helps the switch over icodes: takes a type out of the parentheses that ops.def puts around it.
#pragma once

#include "device/core/types.cuh"
#include "ops/icodes.hpp"

namespace megakittens::ops {

template <class F>
struct ArgumentOf;
template <class T>
struct ArgumentOf<void(T)> {
  using Type = T;
};

}  // namespace megakittens::ops
