// The interpreter, compiled for the host on the twins.
#pragma once

#include "emulator/launch.hpp"
#include "program/program.hpp"

namespace megakittens::emulator {

struct KernelInfo {
  Kernel kernel = nullptr;  ///< takes a program::LaunchParameters
  std::uint32_t warps = 0;
  std::uint32_t shared_bytes = 0;
  std::uint32_t pages = 0;
  std::uint32_t page_bytes = 0;
  std::uint32_t slots = 0;
};

/// The build of the interpreter for an architecture.
KernelInfo kernel_for(program::Architecture architecture);

}  // namespace megakittens::emulator
