#include "jit/interpreter.hpp"

#include <dlfcn.h>

#include <optional>

#include "jit/cubin_cache.hpp"
#include "jit/cubin_file.hpp"
#include "jit/sources.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

// Everything but the compiler: a shipped cubin is right whichever NVRTC this machine has.
std::string source_key(Architecture architecture) {
  return key_of_request(interpreter_request(architecture)).digest().hex();
}

std::string file_stem(Architecture architecture) {
  return fmt::format("interpreter-{}-{}", name_of(architecture), source_key(architecture));
}

fs::path library_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&interpreter_cubin), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code ignored;
  return fs::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace

const char* interpreter_entry(Architecture architecture) {
  return architecture == Architecture::kSm90a ? "megakittens_sm90" : "megakittens_sm100";
}

CompileRequest interpreter_request(Architecture architecture) {
  CompileRequest request;
  request.name = architecture == Architecture::kSm90a ? "interpreter/sm90.cu" : "interpreter/sm100.cu";
  request.source = embedded_source(request.name);
  request.architecture = architecture;
  request.embedded_headers = true;
  request.max_code_bytes = kMaxInterpreterBytes;
  return request;
}

std::vector<fs::path> shipped_folders() {
  const fs::path own = library_folder();
  if (own.empty()) return {};
  return {own / "cubins", own.parent_path() / "share" / "megakittens" / "cubins"};
}

std::string shipped_name(Architecture architecture) {
  return file_stem(architecture) + ".cubin";
}

std::string shipped_file(Architecture architecture, const std::string& cubin) {
  return pack_cubin(source_key(architecture), cubin);
}

InterpreterCubin interpreter_cubin(Architecture architecture) {
  const std::string stem = file_stem(architecture);
  for (const fs::path& folder : shipped_folders())
    if (std::optional<std::string> cubin = find_cubin(folder / (stem + ".cubin"), source_key(architecture)))
      return {.bytes = std::move(*cubin), .origin = "shipped", .compiler = {}};

  return cached_cubin(stem, "interpreter", interpreter_request(architecture));
}

}  // namespace megakittens::jit
