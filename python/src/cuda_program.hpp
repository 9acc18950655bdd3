// A program on a GPU as Python owns it.
#pragma once

#include <nanobind/nanobind.h>

#include "runtime/cuda_program.hpp"

namespace megakittens::python {

/// Its end waits for the GPU, and what the GPU waits for may need the GIL: a callback on the host, another thread.
class CudaProgram : public runtime::CudaProgram {
 public:
  using runtime::CudaProgram::CudaProgram;
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() {
    const nanobind::gil_scoped_release release;
    end();
  }
};

}  // namespace megakittens::python
