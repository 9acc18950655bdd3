// The standard interpreter as machine code: shipped beside the library, or from the cache, or compiled and cached.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jit/compile.hpp"

namespace megakittens::jit {

/// "megakittens_sm90" or "megakittens_sm100": the kernel's name.
const char* interpreter_entry(Architecture architecture);

/// Of the standard interpreter's cubin with any NVRTC that is new enough: 13.0 makes 456,000 bytes for Hopper and
/// 264,000 for Blackwell, where 12.8 made less of an earlier one. tests/compile holds the tested one to less.
inline constexpr std::size_t kMaxInterpreterBytes = 512'000;

/// What NVRTC is asked for: sources, options and name of the standard interpreter.
CompileRequest interpreter_request(Architecture architecture);

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

/// Safe from several threads and processes. A cache that is damaged, full or not writable costs a compilation and a
/// warning, never more. Throws as compile() does.
InterpreterCubin interpreter_cubin(Architecture architecture);

}  // namespace megakittens::jit
