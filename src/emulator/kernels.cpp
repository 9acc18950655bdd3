#include "emulator/kernels.hpp"

#include "interpreter/kernel.cuh"
#include "ops/sm100/set.cuh"
#include "ops/sm90/set.cuh"

namespace megakittens::emulator {
namespace {

template <class Set>
void run(const void* parameters) {
  interpreter::interpret<Set>(*static_cast<const program::LaunchParameters*>(parameters));
}

template <class Set>
KernelInfo info() {
  using Build = typename Set::Build;
  return {.kernel = run<Set>, .warps = Build::kWarps, .shared_bytes = device::Layout<Build>::kBytes};
}

}  // namespace

KernelInfo kernel_for(program::Architecture architecture) {
  return &program::target_of(architecture).family == &program::kHopper ? info<ops::sm90::Set>()
                                                                       : info<ops::sm100::Set>();
}

}  // namespace megakittens::emulator
