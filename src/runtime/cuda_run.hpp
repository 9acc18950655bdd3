// A program on a GPU with tensors in the host's memory: one launch for its results, then many for its time.
#pragma once

#include <vector>

#include "runtime/cuda_device.hpp"
#include "runtime/host_buffer.hpp"

namespace megakittens::runtime {

struct CudaRun {
  /// By storage number: the inputs as the first launch left them, its outputs, and empty buffers for workspaces.
  std::vector<HostBuffer> storages;
  double microseconds = 0;  ///< a launch, of `launches` behind each other, by the GPU's clock
  unsigned launches = 0;
};

/// `inputs[i]` is the storage of the program's input i, exactly as long as program.storages says. With `launches` of 0
/// no time is taken. Throws UserError where inputs or program do not fit, CapacityError where the GPU is full,
/// ExecutionError where a launch gives up.
CudaRun run_on_gpu(const program::Program& program, CudaDevice& device, std::vector<HostBuffer> inputs,
                   unsigned launches);

}  // namespace megakittens::runtime
