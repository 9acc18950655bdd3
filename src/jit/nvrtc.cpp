#include "jit/nvrtc.hpp"

#include <dlfcn.h>

#include "support/error.hpp"

namespace megakittens::jit {
namespace {

constexpr int kOldestMajor = 12, kOldestMinor = 8;  // tested; compile() asks for more where a target needs it

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load_functions(void* library, Nvrtc& api) {
  return find(library, "nvrtcGetErrorString", api.get_error_string) && find(library, "nvrtcVersion", api.version) &&
         find(library, "nvrtcCreateProgram", api.create_program) &&
         find(library, "nvrtcDestroyProgram", api.destroy_program) &&
         find(library, "nvrtcCompileProgram", api.compile_program) &&
         find(library, "nvrtcGetCUBINSize", api.get_cubin_size) && find(library, "nvrtcGetCUBIN", api.get_cubin) &&
         find(library, "nvrtcGetProgramLogSize", api.get_program_log_size) &&
         find(library, "nvrtcGetProgramLog", api.get_program_log);
}

// Returns what is wrong with the library, or nothing.
std::string try_open(const Candidate& candidate, Nvrtc& api) {
  void* library = dlopen(candidate.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  if (!load_functions(library, api)) {
    dlclose(library);
    return "it is not an NVRTC library";
  }
  if (api.version(&api.major, &api.minor) != 0 || api.major < kOldestMajor ||
      (api.major == kOldestMajor && api.minor < kOldestMinor)) {
    dlclose(library);
    return fmt::format("version {}.{} is older than {}.{}", api.major, api.minor, kOldestMajor, kOldestMinor);
  }
  api.path = candidate.library.string();
  return {};
}

}  // namespace

Nvrtc open_nvrtc() {
  std::string tried;
  for (const Candidate& candidate : nvrtc_candidates()) {
    Nvrtc api;
    const std::string fault = try_open(candidate, api);
    if (fault.empty()) return api;
    tried += fmt::format("\n  {} ({}): {}", candidate.library.string(), candidate.reason, fault);
  }
  if (tried.empty()) tried = "\n  (no library found there)";
  throw UserError(fmt::format(
      "compiling kernels needs NVRTC {}.{} or newer, and none could be opened. Install the PyPI package "
      "nvidia-cuda-nvrtc or a CUDA toolkit, or set MEGAKITTENS_NVRTC to the library or its folder. Looked there alone "
      "if it is set, else in CUDA_HOME, CUDA_PATH, /usr/local/cuda, the active or a nearby .venv, and the loader's "
      "path:{}",
      kOldestMajor, kOldestMinor, tried));
}

const Nvrtc& nvrtc() {
  static const Nvrtc api = open_nvrtc();
  return api;
}

}  // namespace megakittens::jit
