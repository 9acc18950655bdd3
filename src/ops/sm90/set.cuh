// Hopper's instruction set: every icode's device half, and what a CTA needs besides.
#pragma once

#include "ops/elementwise/device.cuh"
#include "ops/elementwise_general/device.cuh"
#include "ops/gemm/sm90.cuh"
#include "ops/gemm_general/sm90.cuh"
#include "ops/noop/device.cuh"
#include "ops/visit.cuh"

namespace megakittens::ops::sm90 {

using device::Bf16;
using device::F16;

struct Set {
  /// Calls f with the device half of an icode. An unknown one is taken as a noop (verified programs have none).
  template <class F>
  static MK_DEVICE void visit(uint32_t icode, F&& f) {
    switch (icode) {
#define MK_ICODE(name, folder, Device, colour) \
  case kIcode_##name:                          \
    return f(typename ArgumentOf<void Device>::Type{});
#include "ops/ops.def"
      default:
        return f(Noop{});
    }
  }
  template <class B>
  static MK_DEVICE void begin_cta(device::Context<B>&) {}
  template <class B>
  static MK_DEVICE void end_cta(device::Context<B>&) {}
  static MK_DEVICE void consumer_registers() { ptx::setmaxnreg_inc<232>(); }
  static MK_DEVICE void other_registers() { ptx::setmaxnreg_dec<40>(); }
};

}  // namespace megakittens::ops::sm90
