// Device source to machine code, through NVRTC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "support/error.hpp"

namespace megakittens::jit {

using program::Architecture;

/// One kernel or non-inlined function of the log of `--ptxas-options=-v`. Bytes per thread, except shared.
struct FunctionUsage {
  std::string name;  ///< mangled
  bool entry = false;
  uint32_t registers = 0;
  uint32_t barriers = 0;
  uint32_t stack_bytes = 0;
  uint32_t spill_store_bytes = 0;
  uint32_t spill_load_bytes = 0;
  uint32_t static_shared_bytes = 0;
};

std::vector<FunctionUsage> parse_usage(std::string_view log);

/// The log's lines that must not be there: serialised wgmma, dropped setmaxnreg, "Potential Performance Loss", spills.
/// Each is a whole line of the log, a spill with the function's name before it.
std::vector<std::string> refused_lines(std::string_view log);

/// The source does not compile, or compiles to something slow. `log` is the compiler's whole text.
class CompileError : public UserError {
 public:
  CompileError(const std::string& message, std::string log) : UserError(message), log_(std::move(log)) {}
  const std::string& log() const { return log_; }

 private:
  std::string log_;
};

struct CompileRequest {
  std::string source;
  std::string name = "kernel.cu";  ///< how messages call the source
  Architecture architecture{};
  std::vector<std::filesystem::path> include_folders;  ///< the folder that holds device/, and users' own
  std::vector<std::string> definitions;                ///< NAME or NAME=VALUE
  bool embedded_headers = false;                       ///< includes find the headers that the library carries
  std::map<std::string, std::string> edited_headers;   ///< texts instead of those of the carried headers so named
  bool line_info = false;                              ///< for profilers and sanitizers
  std::size_t max_code_bytes = 0;                      ///< a larger cubin is refused; 0: none is
};

struct CompileResult {
  std::string cubin;
  std::string log;
  std::vector<FunctionUsage> functions;
  double seconds = 0;
};

/// The compiler's options for a request, in one place because they decide the cache key as well.
std::vector<std::string> compiler_options(const CompileRequest& request);

/// Compiles, and refuses what refused_lines() finds and cubins above max_code_bytes. Safe from several threads. Throws
/// CompileError, or UserError where there is no NVRTC or one that is too old for the architecture.
CompileResult compile(const CompileRequest& request);

/// How often NVRTC has compiled in this process, failures included.
std::uint64_t compilation_count();

}  // namespace megakittens::jit
