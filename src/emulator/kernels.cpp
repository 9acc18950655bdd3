#include "emulator/kernels.hpp"

#include "interpreter/sm90.cuh"

namespace megakittens::emulator {
namespace {

void run_sm90(const void* parameters) {
  interpreter::interpret_sm90(*static_cast<const program::LaunchParameters*>(parameters));
}

template <class Build>
KernelInfo info(Kernel kernel) {
  return {.kernel = kernel,
          .warps = Build::kWarps,
          .shared_bytes = device::Layout<Build>::kBytes,
          .pages = Build::kPages,
          .page_bytes = Build::kPageBytes,
          .slots = Build::kSlots};
}

}  // namespace

KernelInfo kernel_for(program::Architecture architecture) {
  (void)architecture;
  return info<interpreter::HopperBuild>(run_sm90);
}

}  // namespace megakittens::emulator
