// An interpreter of its own: the standard set and users' instruction types, in one kernel.
#pragma once

#include <span>

#include "jit/interpreter.hpp"
#include "ops/user/device_half.hpp"

namespace megakittens::jit {

/// Where the interpreter will run: by NVRTC for a GPU, or by the host's compiler on the twins.
enum class Side { gpu, host };

/// The source: it includes the standard interpreter and the halves' files, and dispatches their icodes.
std::string user_interpreter_source(Architecture architecture, std::span<const ops::DeviceHalf> halves, Side side);

/// Of the cubin: the standard interpreter's, and two thirds as much for users' types.
inline constexpr std::size_t kMaxUserInterpreterBytes = 640'000;

/// What NVRTC is asked for.
CompileRequest user_interpreter_request(Architecture architecture, std::span<const ops::DeviceHalf> halves);

/// From the cache or compiled; the kernel is called as the standard one. The key has the halves' files and icodes.
/// Throws CompileError with the compiler's text where a half does not compile or compiles to something slow, UserError
/// where there is no NVRTC.
InterpreterCubin user_interpreter_cubin(Architecture architecture, std::span<const ops::DeviceHalf> halves);

/// The same for the emulator: path of a library that exports device::host::kHostKernelName, whose checksum was right a
/// moment ago. Compiled with `fresh` though the cache has one. Where there is no cache that can be written, it lies in
/// a temporary folder until the process ends. Throws CompileError, or UserError where there is no C++ compiler.
std::filesystem::path host_interpreter(Architecture architecture, std::span<const ops::DeviceHalf> halves,
                                       bool fresh = false);

/// The compiler that host_interpreter() uses, and the first line of what it says about its version. Throws UserError
/// where there is none.
struct HostCompiler {
  std::filesystem::path path;
  std::string version;
};
HostCompiler host_compiler();

}  // namespace megakittens::jit
