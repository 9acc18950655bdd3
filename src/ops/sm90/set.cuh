// Hopper's instruction set: every icode's device half, and what a CTA needs besides.
#pragma once

#include "ops/elementwise/device.cuh"
#include "ops/gemm/sm90.cuh"
#include "ops/icodes.hpp"
#include "ops/noop/device.cuh"
#include "ops/permute/device.cuh"

namespace megakittens::ops::sm90 {

struct Set {
  using Build = device::Build<program::kHopper>;

  /// Calls f with the device half of an icode. An unknown one is taken as a noop (verified programs have none).
  template <class F>
  static MK_DEVICE void visit(uint32_t icode, F&& f) {
// NOLINTBEGIN(bugprone-macro-parentheses): a type's name
#define MK_DEVICE_HALF(Struct, first, end) \
  if (icode - first < uint32_t{end - first}) return f(Struct{});
#include "ops/ops.def"
    // NOLINTEND(bugprone-macro-parentheses)
    return f(Noop{});
  }
  template <class B>
  static MK_DEVICE void begin_cta(device::Context<B>&) {}
  template <class B>
  static MK_DEVICE void end_cta(device::Context<B>&) {}
  /// Registers of a thread. A warpgroup that asks for more than the launch gave waits until others have given up as
  /// many: what does not add up hangs.
  static constexpr uint32_t kAtLaunch = 168, kConsumer = 224, kOther = 56;
  static_assert(2 * kConsumer + (Build::kWarps / 4 - 2) * kOther <= Build::kWarps / 4 * kAtLaunch);
  static MK_DEVICE void consumer_registers() { ptx::setmaxnreg_inc<kConsumer>(); }
  static MK_DEVICE void other_registers() { ptx::setmaxnreg_dec<kOther>(); }
};

}  // namespace megakittens::ops::sm90
