// The interpreter as machine code, with the standard instruction set or with users' types besides: shipped beside the
// library, or from the cache, or compiled and cached.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "jit/compile.hpp"
#include "ops/user/device_half.hpp"

namespace megakittens::jit {

using Halves = std::span<const ops::DeviceHalf>;

/// The kernel's name: "megakittens_sm90".
std::string interpreter_entry(Architecture architecture);

/// Of the standard interpreter's cubin with any NVRTC that is new enough: 13.0 makes 819,000 bytes for Hopper and
/// 377,000 for Blackwell. tests/compile holds the tested one to less.
inline constexpr std::size_t kMaxInterpreterBytes = 850'000;
/// With users' types: as much again for these.
inline constexpr std::size_t kMaxUserInterpreterBytes = 1'000'000;

/// Where the interpreter will run: by NVRTC for a GPU, or by the host's compiler on the twins.
enum class Side { gpu, host };

/// The source: it includes the interpreter, the target's instruction set and the halves' files, and dispatches the
/// halves' icodes.
std::string interpreter_source(Architecture architecture, Halves halves, Side side);

/// What NVRTC is asked for.
CompileRequest interpreter_request(Architecture architecture, Halves halves = {});

/// Where compiled kernels are kept: MEGAKITTENS_CACHE_DIR, $XDG_CACHE_HOME/megakittens or ~/.cache/megakittens; empty
/// where the environment names none.
std::filesystem::path cache_folder();

/// Folders that may hold shipped cubins: `cubins` beside the library, and ../share/megakittens/cubins.
std::vector<std::filesystem::path> shipped_folders();

struct InterpreterCubin {
  std::string bytes;
  std::string origin;    ///< "shipped", "cached" or "compiled"
  std::string compiler;  ///< "nvrtc13.0"; empty where it is shipped
};

/// Where the file of a shipped cubin has to lie in its folder, and its bytes: what `make cubins` writes.
std::string shipped_name(Architecture architecture);
std::string shipped_file(Architecture architecture, const std::string& cubin);

/// Only the standard interpreter is shipped; the key of another has the halves' files and icodes. Safe from several
/// threads and processes. A cache that is damaged, full or not writable costs a compilation and a warning, never more.
/// Throws as compile() does; the compiler's text has the user's file and line where a half does not compile.
InterpreterCubin interpreter_cubin(Architecture architecture, Halves halves = {});

/// The same for the emulator: path of a library that exports device::host::kHostKernelName, whose checksum was right a
/// moment ago. Compiled with `fresh` though the cache has one. Where there is no cache that can be written, it lies in
/// a temporary folder until the process ends. Throws CompileError, or UserError where there is no C++ compiler.
std::filesystem::path host_interpreter(Architecture architecture, Halves halves, bool fresh = false);

/// The compiler that host_interpreter() uses, and the first line of what it says about its version. Throws UserError
/// where there is none.
struct HostCompiler {
  std::filesystem::path path;
  std::string version;
};
HostCompiler host_compiler();

}  // namespace megakittens::jit
