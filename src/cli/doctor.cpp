// megakittens doctor: what this machine has, and what that allows.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/commands.hpp"
#include "emulator/kernels.hpp"
#include "jit/locate.hpp"
#include "jit/nvrtc.hpp"
#include "megakittens/version.hpp"
#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::cli {
namespace {

void line(const char* what, const std::string& text) {
  std::puts(fmt::format("  {:<12}{}", what, text).c_str());
}

template <class Function>
Function symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

struct Gpus {
  bool driver = false;
  int usable = 0;  // of an architecture that the interpreter is written for
};

constexpr int kMajorAttribute = 75;
constexpr int kMinorAttribute = 76;

Gpus look_for_gpus() {
  Gpus found;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    line("driver", "none (libcuda.so.1 is not installed)");
    line("GPU", "none");
    return found;
  }
  const auto init = symbol<int (*)(unsigned)>(library, "cuInit");
  const auto version = symbol<int (*)(int*)>(library, "cuDriverGetVersion");
  const auto count_of = symbol<int (*)(int*)>(library, "cuDeviceGetCount");
  const auto name_of = symbol<int (*)(char*, int, int)>(library, "cuDeviceGetName");
  const auto attribute = symbol<int (*)(int*, int, int)>(library, "cuDeviceGetAttribute");
  if (!init || !version || !count_of || !name_of || !attribute) {
    line("driver", "libcuda.so.1 lacks functions of the CUDA driver; it is something else, or damaged");
    return found;
  }
  int number = 0;
  found.driver = true;
  const bool versioned = version(&number) == 0;
  line("driver", versioned ? fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10) : "of unknown version");
  int devices = 0;
  if (const int fault = init(0); fault != 0) {
    line("GPU", fmt::format("none (the driver does not start: CUDA error {})", fault));
    return found;
  }
  if (count_of(&devices) != 0 || devices == 0) line("GPU", "none");
  for (int device = 0; device < devices; ++device) {
    char name[256] = "unnamed";
    int major = 0;
    int minor = 0;
    if (name_of(name, sizeof(name), device) != 0 || attribute(&major, kMajorAttribute, device) != 0 ||
        attribute(&minor, kMinorAttribute, device) != 0)
      continue;
    const bool usable = (major == 9 && minor == 0) || (major == 10 && minor == 0);
    found.usable += usable ? 1 : 0;
    line("GPU", fmt::format("{} '{}', sm_{}{}{}", device, name, major, minor,
                            usable ? "a" : "; programs are made for sm_90a and sm_100a"));
  }
  return found;
}

bool look_for_nvrtc() {
  try {
    const jit::Nvrtc nvrtc = jit::open_nvrtc();
    line("NVRTC", fmt::format("{}.{}, {}", nvrtc.major, nvrtc.minor, nvrtc.path));
    return true;
  } catch (const UserError& error) {
    line("NVRTC", fmt::format("none ({})", error.what()));
    return false;
  }
}

std::string find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = rest.find(':');
    const std::string file = rest.substr(0, end) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(file)) return file;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return "";
}

void look_for_compilers() {
  std::string found;
  for (const char* name : {"g++", "clang++", "nvcc", "ptxas", "python3"})
    if (const std::string file = find_in_path(name); !file.empty()) found += (found.empty() ? "" : ", ") + file;
  line("compilers", found.empty() ? "none" : found);
}

int run() {
  std::puts(fmt::format("megakittens {}\n\nthis machine", version()).c_str());
  line("processors", std::to_string(std::thread::hardware_concurrency()));
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  line("memory", fmt::format("{:.1f} GB", memory / (1 << 30)));
  const Gpus gpus = look_for_gpus();
  const bool nvrtc = look_for_nvrtc();
  look_for_compilers();
  const emulator::KernelInfo kernel = emulator::kernel_for(program::Architecture::sm_90a);
  line("emulator", fmt::format("built in: {} warps, {} pages of {} bytes, {} slots a CTA", kernel.warps, kernel.pages,
                               kernel.page_bytes, kernel.slots));
  std::puts("\nwhat that allows");
  line("schedule", "yes: graphs to programs, for sm_90a and sm_100a");
  line("run", "yes, on the emulator");
  line("compile", nvrtc ? "yes: device code for sm_90a and sm_100a with NVRTC"
                        : "no: `pip install nvidia-cuda-nvrtc`, or set MEGAKITTENS_NVRTC");
  if (gpus.usable > 0)
    line("GPU", "found; this version's commands run on the emulator only");
  else
    line("GPU", gpus.driver ? "no: none of a supported architecture" : "no: neither driver nor GPU");
  const std::vector<std::string> unknown = unknown_knobs();
  if (!unknown.empty()) std::puts("\nenvironment");
  for (const std::string& sentence : unknown) std::puts(("  " + sentence).c_str());
  return kSuccess;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("doctor", "Say what this machine has and what that allows.");
  return {parser, [] { return run(); }};
}

}  // namespace megakittens::cli
