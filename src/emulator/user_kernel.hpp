// Interpreters with users' instruction types, compiled for the host in libraries of their own.
#pragma once

#include "emulator/kernels.hpp"

namespace megakittens::emulator {

/// The interpreter that the program needs: the standard build, or one with its users' types, which is compiled where
/// the cache lacks it. Throws UserError where a type is not registered or there is no compiler, jit::CompileError where
/// a device half does not compile. Libraries stay loaded. Safe from several threads.
KernelInfo kernel_for(const program::Program& program);

}  // namespace megakittens::emulator
