#include "emulator/kernels.hpp"

#include "interpreter/sm100.cuh"
#include "interpreter/sm90.cuh"

namespace megakittens::emulator {
namespace {

void run_sm90(const void* parameters) {
  interpreter::interpret_sm90(*static_cast<const program::LaunchParameters*>(parameters));
}

void run_sm100(const void* parameters) {
  interpreter::interpret_sm100(*static_cast<const program::LaunchParameters*>(parameters));
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
  if (architecture == program::Architecture::sm_100a) return info<interpreter::BlackwellBuild>(run_sm100);
  return info<interpreter::HopperBuild>(run_sm90);
}

}  // namespace megakittens::emulator
