// The interpreter, compiled for the host on the twins.
#pragma once

#include "emulator/launch.hpp"
#include "program/program.hpp"

namespace megakittens::emulator {

struct KernelInfo {
  Kernel kernel = nullptr;  ///< takes a program::LaunchParameters
  std::uint32_t warps = 0;
  std::uint32_t shared_bytes = 0;
};

/// The build of the interpreter for an architecture.
KernelInfo kernel_for(program::Architecture architecture);

/// The interpreter that the program needs: the standard build, or one with its users' types, which is compiled where
/// the cache lacks it. Throws UserError where a type is not registered or there is no compiler, jit::CompileError where
/// a device half does not compile. Libraries stay loaded. Safe from several threads.
KernelInfo kernel_for(const program::Program& program);

}  // namespace megakittens::emulator
