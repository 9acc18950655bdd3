// megakittens doctor: what this machine has, and what that allows.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "emulator/kernels.hpp"
#include "jit/interpreter.hpp"
#include "jit/nvrtc.hpp"
#include "megakittens/version.hpp"
#include "runtime/driver.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/options.hpp"

namespace megakittens::cli {
namespace {

void line(const char* what, const std::string& text) {
  print_line(fmt::format("  {:<12}{}", what, text));
}

struct Gpus {
  bool driver = false;
  int usable = 0;  // of an architecture that the interpreter is written for
};

constexpr int kMultiprocessors = 16;
constexpr int kMajorAttribute = 75;  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, then MINOR
constexpr int kMinorAttribute = 76;

Gpus look_for_gpus() {
  Gpus found;
  try {
    runtime::driver();
    found.driver = true;
    int number = 0;
    MK_CUDA(driver_get_version(&number));
    line("driver", fmt::format("CUDA {}.{}", number / 1000, number % 1000 / 10));
    int devices = 0;
    MK_CUDA(device_get_count(&devices));
    if (devices == 0) line("GPU", "none");
    for (int ordinal = 0; ordinal < devices; ++ordinal) {
      runtime::CuDevice device{};
      char name[256] = "";
      int major = 0;
      int minor = 0;
      MK_CUDA(device_get(&device, ordinal));
      MK_CUDA(device_get_name(name, sizeof(name), device));
      MK_CUDA(device_get_attribute(&major, kMajorAttribute, device));
      MK_CUDA(device_get_attribute(&minor, kMinorAttribute, device));
      const program::Target* target = program::target_of_gpu(major, minor);
      found.usable += target != nullptr ? 1 : 0;
      int sms = 0;
      std::size_t bytes = 0;
      MK_CUDA(device_get_attribute(&sms, kMultiprocessors, device));
      MK_CUDA(device_total_mem(&bytes, device));
      line("GPU", fmt::format("{} '{}', {} multiprocessors, {:.1f} GB, {}", ordinal, name, sms,
                              static_cast<double>(bytes) / (1 << 30),
                              target != nullptr ? target->name
                                                : fmt::format("sm_{}{}; programs are made for {}", major, minor,
                                                              program::target_names())));
    }
  } catch (const Error& error) {
    line(found.driver ? "GPU" : "driver", fmt::format("none ({})", error.what()));
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

/// How many interpreters this package carries.
int look_for_cubins() {
  int shipped = 0;
  std::error_code ignored;
  for (const program::Target& target : program::kTargets)
    for (const std::filesystem::path& folder : jit::shipped_folders())
      if (const auto path = folder / jit::shipped_name(target.architecture); std::filesystem::exists(path, ignored)) {
        ++shipped;
        line("shipped", path.string());
        break;
      }
  if (shipped == 0) line("shipped", "no interpreter beside this library (`make cubins` makes them)");
  const std::filesystem::path cache = jit::cache_folder();
  if (cache.empty()) {
    line("cache", "none: HOME is not set, and neither is MEGAKITTENS_CACHE_DIR");
    return shipped;
  }
  int cached = 0;
  for (const auto& entry : std::filesystem::directory_iterator(cache, ignored))
    cached += entry.path().extension() == ".cubin" ? 1 : 0;
  std::filesystem::path existing = cache;
  while (!existing.empty() && !std::filesystem::exists(existing, ignored)) existing = existing.parent_path();
  if (existing.empty()) existing = ".";
  const char* problem = "";
  if (!std::filesystem::is_directory(existing, ignored))
    problem = ", cannot be used: it is no folder, or lies in a file";
  else if (::access(existing.c_str(), W_OK | X_OK) != 0)
    problem = ", cannot be written";
  line("cache", fmt::format("{}, {} compiled{}", cache.string(), cached, problem));
  return shipped;
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

/// Of variables that have values which are not possible.
std::vector<std::string> wrong_values() {
  std::vector<std::string> sentences = impossible_knobs();
  auto note = [&](const char* variable, auto&& use) {
    try {
      use();
    } catch (const OptionError& error) {
      sentences.push_back(fmt::format("{}: {}", variable, error.what()));
    }
  };
  note("MEGAKITTENS_LOG", [] { expect_log_levels(text_option(Knob::log)); });
  note("MEGAKITTENS_VERIFY", [] { schedule::verifies_schedules(); });
  return sentences;
}

int run() {
  print_line(fmt::format("megakittens {}\n\nthis machine", version()));
  line("processors", std::to_string(std::thread::hardware_concurrency()));
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  line("memory", fmt::format("{:.1f} GB", memory / (1 << 30)));
  const Gpus gpus = look_for_gpus();
  const bool nvrtc = look_for_nvrtc();
  const int shipped = look_for_cubins();
  look_for_compilers();
  const program::Family& kernel = program::kTargets[0].family;
  line("emulator", fmt::format("built in: {} warps, {} pages of {} bytes, {} slots a CTA", kernel.warps, kernel.pages,
                               kernel.page_bytes, kernel.slots));
  print_line("\nwhat that allows");
  line("schedule", "yes: graphs to programs, for " + program::target_names());
  line("run", "yes, on the emulator");
  line("compile", nvrtc ? fmt::format("yes: device code for {} with NVRTC", program::target_names())
                        : "no: `pip install nvidia-cuda-nvrtc`, or set MEGAKITTENS_NVRTC");
  if (gpus.usable > 0)
    line("GPU", nvrtc || shipped > 0
                    ? "yes: `run --device cuda`, and CUDA tensors from Python"
                    : "only with an interpreter from the cache: none is shipped, and NVRTC is missing");
  else
    line("GPU", gpus.driver ? "no: none of a supported architecture" : "no: the driver is missing or does not start");
  std::vector<std::string> wrong = unknown_knobs();
  for (const std::string& sentence : wrong_values()) wrong.push_back(sentence);
  if (!wrong.empty()) print_line("\nenvironment");
  for (const std::string& sentence : wrong) print_line(("  " + sentence));
  return kSuccess;
}

}  // namespace

Command add_doctor(CLI::App& app) {
  CLI::App* parser = app.add_subcommand("doctor", "Say what this machine has and what that allows.");
  return {parser, [] { return run(); }};
}

}  // namespace megakittens::cli
