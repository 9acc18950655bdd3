#include "jit/compile.hpp"

#include <atomic>
#include <chrono>

#include "jit/nvrtc.hpp"
#include "jit/sources.hpp"

namespace megakittens::jit {
namespace {

std::atomic<std::uint64_t> compilations{0};

// Owns one NVRTC program.
class Program {
 public:
  Program(const Nvrtc& api, const CompileRequest& request) : api_(api) {
    std::vector<const char*> texts;
    std::vector<const char*> names;
    if (request.embedded_headers)
      for (const EmbeddedSource& source : embedded_sources()) {
        // Both are literals, which end in a zero.
        const auto edited = request.edited_headers.find(std::string(source.path));
        texts.push_back(edited == request.edited_headers.end() ? source.text.data() : edited->second.c_str());
        names.push_back(source.path.data());
      }
    const int result = api.create_program(&handle_, request.source.c_str(), request.name.c_str(),
                                          static_cast<int>(texts.size()), texts.data(), names.data());
    MK_CHECK(result == 0, "NVRTC refused to create a program: {}", api.get_error_string(result));
  }
  ~Program() { api_.destroy_program(&handle_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  int compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(handle_, static_cast<int>(pointers.size()), pointers.data());
  }
  std::string log() const {
    std::string text = read(api_.get_program_log_size, api_.get_program_log, "the log");
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  std::string cubin() const { return read(api_.get_cubin_size, api_.get_cubin, "the cubin"); }

 private:
  std::string read(int (*size_of)(NvrtcProgram, size_t*), int (*get)(NvrtcProgram, char*), const char* what) const {
    size_t size = 0;
    int result = size_of(handle_, &size);
    std::string bytes(size, '\0');
    if (result == 0) result = get(handle_, bytes.data());
    MK_CHECK(result == 0, "NVRTC does not give {}: {}", what, api_.get_error_string(result));
    return bytes;
  }

  const Nvrtc& api_;
  NvrtcProgram handle_ = nullptr;
};

void expect_known(const CompileRequest& request) {
  const program::Target& target = program::target_of(request.architecture);
  const Nvrtc& api = nvrtc();
  if (std::pair(api.major, api.minor) < std::pair(target.nvrtc_major, target.nvrtc_minor))
    throw UserError(
        fmt::format("compiling for {} needs NVRTC {}.{} or newer, '{}' is {}.{}: let MEGAKITTENS_NVRTC name "
                    "a newer one",
                    target.name, target.nvrtc_major, target.nvrtc_minor, api.path, api.major, api.minor));
}

}  // namespace

std::vector<std::string> compiler_options(const CompileRequest& request) {
  std::vector<std::string> options = {
      "--std=c++20",        fmt::format("--gpu-architecture={}", name_of(request.architecture)),
      "-default-device",     // constexpr helpers and plain structs' members need no annotation
      "--fmad=false",        // sources say fma where they mean it, so that the host computes the same bits
      "--ptxas-options=-v",  // registers, spills and remarks appear in the log
  };
  if (request.line_info) options.push_back("--generate-line-info");
  for (const std::filesystem::path& folder : request.include_folders)
    options.push_back("--include-path=" + folder.string());
  for (const std::string& definition : request.definitions) options.push_back("--define-macro=" + definition);
  return options;
}

CompileResult compile(const CompileRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  expect_known(request);
  Program program(nvrtc(), request);
  ++compilations;
  const int status = program.compile(compiler_options(request));
  CompileResult result;
  result.log = program.log();
  if (status != 0)
    throw CompileError(fmt::format("{} does not compile for {}: {}\n{}", request.name, name_of(request.architecture),
                                   nvrtc().get_error_string(status), result.log),
                       result.log);
  if (const std::vector<std::string> refused = refused_lines(result.log); !refused.empty()) {
    std::string message = fmt::format("{} compiles for {}, but into a kernel that would run slowly:", request.name,
                                      name_of(request.architecture));
    for (const std::string& line : refused) message += "\n  " + line;
    throw CompileError(message, result.log);
  }
  result.functions = parse_usage(result.log);
  result.cubin = program.cubin();
  if (request.max_code_bytes != 0 && result.cubin.size() > request.max_code_bytes)
    throw CompileError(
        fmt::format("{} compiles for {}, but into {} bytes of machine code, which is more than the {} "
                    "allowed for it: what a kernel runs has to stay in the caches for instructions",
                    request.name, name_of(request.architecture), result.cubin.size(), request.max_code_bytes),
        result.log);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

std::uint64_t compilation_count() {
  return compilations;
}

}  // namespace megakittens::jit
