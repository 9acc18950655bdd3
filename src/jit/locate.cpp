// Where on this machine the NVRTC library may lie.

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "jit/nvrtc.hpp"
#include "support/options.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

// Newest first; nvrtc.cpp asks the library itself how old it is.
constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

void add_folder(std::vector<Candidate>& list, const fs::path& folder, const std::string& reason) {
  std::error_code ignored;
  for (const char* name : kNames)
    if (fs::exists(folder / name, ignored)) {
      list.push_back({folder / name, reason});
      return;
    }
}

// Where a Python keeps packages; Debian's has the second name.
constexpr const char* kSiteFolders[] = {"site-packages", "dist-packages"};

// nvidia/<package>/lib: cu13 since CUDA 13, cuda_nvrtc before. Some builds of PyTorch carry the library themselves.
void add_site_packages(std::vector<Candidate>& list, const fs::path& site, const std::string& reason) {
  for (const char* package : {"cu13", "cuda_nvrtc"}) add_folder(list, site / "nvidia" / package / "lib", reason);
  add_folder(list, site / "torch" / "lib", reason);
}

void add_environment(std::vector<Candidate>& list, const fs::path& environment, const std::string& reason) {
  std::error_code ignored;
  std::vector<fs::path> pythons;
  for (const fs::directory_entry& entry : fs::directory_iterator(environment / "lib", ignored))
    if (entry.path().filename().string().starts_with("python")) pythons.push_back(entry.path());
  std::sort(pythons.begin(), pythons.end());
  for (const fs::path& python : pythons)
    for (const char* site : kSiteFolders) add_site_packages(list, python / site, reason);
}

void add_above(std::vector<Candidate>& list, fs::path folder, const std::string& what) {
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    add_environment(list, folder / ".venv", ".venv above " + what);
    for (const char* site : kSiteFolders)
      if (folder.filename() == site) add_site_packages(list, folder, fmt::format("{} above {}", site, what));
  }
}

fs::path find_own_folder() noexcept try {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&nvrtc_candidates), &info) == 0 || info.dli_fname == nullptr) return {};
  return fs::absolute(info.dli_fname).parent_path();
} catch (const std::exception&) {
  return {};  // one place less to look
}

/// Found out as the program starts: the name may be relative to the folder of then.
const fs::path kOwnFolder = find_own_folder();

}  // namespace

std::vector<Candidate> nvrtc_candidates() {
  std::vector<Candidate> list;
  if (const std::string value = text_option(Knob::nvrtc); !value.empty()) {
    const std::string reason = "environment variable MEGAKITTENS_NVRTC";
    std::error_code ignored;
    if (fs::is_directory(value, ignored))
      add_folder(list, value, reason);
    else
      list.push_back({value, reason});
    return list;
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* value = std::getenv(variable); value != nullptr && *value != '\0')
      add_folder(list, fs::path(value) / "lib64", std::string("environment variable ") + variable);
  add_folder(list, "/usr/local/cuda/lib64", "CUDA toolkit");
  if (const char* value = std::getenv("VIRTUAL_ENV"); value != nullptr && *value != '\0')
    add_environment(list, value, "active virtual environment");
  std::error_code ignored;
  add_above(list, fs::current_path(ignored), "the working folder");
  add_above(list, kOwnFolder, "this library");
  for (const char* name : kNames) list.push_back({name, "the loader's path"});
  return list;
}

}  // namespace megakittens::jit
