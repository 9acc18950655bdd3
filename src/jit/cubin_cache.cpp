#include "jit/cubin_cache.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "jit/nvrtc.hpp"
#include "megakittens/version.hpp"
#include "support/files.hpp"
#include "support/log.hpp"
#include "support/options.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;
constexpr std::string_view kMark = "\nmegakittens-code 1 ";

std::string trailer_of(std::string_view key, std::string_view code) {
  return fmt::format("{}{} {} {}\n", kMark, key, hash128(code).hex(), code.size());
}

/// What follows the first word: "interpreter-<key>".
std::string key_of(const std::string& stem) {
  return stem.substr(stem.find('-') + 1);
}

std::vector<fs::path> files_with_stem(const fs::path& folder, const std::string& stem) {
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored))
    if (const std::string name = entry.path().filename().string(); name.starts_with(stem) && name.ends_with(".cubin"))
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

void keep(const fs::path& path, const std::string& key, const std::string& cubin, std::string_view what) {
  try {
    std::error_code fault;
    fs::create_directories(path.parent_path(), fault);
    if (fault) throw UserError(fmt::format("cannot create '{}': {}", path.parent_path().string(), fault.message()));
    write_file(path, pack(key, cubin));
  } catch (const UserError& error) {
    warn_once(fmt::format("the compiled {} is not kept, and will be compiled again next time: {}", what, error.what()));
  }
}

}  // namespace

std::string pack(std::string_view key, std::string_view code) {
  return std::string(code).append(trailer_of(key, code));
}

std::optional<std::string> unpack(std::string_view key, std::string text) {
  const std::size_t size = text.rfind(kMark);
  if (size == std::string::npos || size == 0) return std::nullopt;
  const std::string trailer = text.substr(size);
  text.resize(size);
  if (trailer != trailer_of(key, text)) return std::nullopt;
  return text;
}

std::optional<std::string> read_kept(std::string_view key, const std::filesystem::path& path) {
  try {
    return unpack(key, read_file(path, kMaxBytes));
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::scoped_lock lock(mutex);
  if (said.insert(text).second) log(LogLevel::warning, "jit", "{}", text);
}

Hasher key_of_request(const CompileRequest& request, std::string_view carried) {
  Hasher hasher;
  hasher.add(version()).add(name_of(request.architecture)).add(carried).add(request.source);
  for (const std::string& option : compiler_options(request)) hasher.add(option);
  for (const auto& [name, text] : request.edited_headers) hasher.add(name).add(text);
  return hasher;
}

std::optional<std::string> find_cubin(const fs::path& path, const std::string& key) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<std::string> cubin = read_kept(key, path);
  if (!cubin) warn_once(fmt::format("'{}' is damaged or cannot be read: compiling anew", path.string()));
  return cubin;
}

fs::path cache_folder() {
  if (std::string folder = text_option(Knob::cache_dir); !folder.empty()) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "megakittens";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "megakittens";
  return {};
}

InterpreterCubin cached_cubin(const std::string& stem, std::string_view what, const CompileRequest& request) {
  // One compilation at a time a process: a second caller finds the first one's result.
  static std::mutex mutex;
  static std::map<std::string, InterpreterCubin> compiled;
  std::scoped_lock lock(mutex);
  const fs::path folder = cache_folder();
  std::string compiler;
  try {
    compiler = fmt::format("nvrtc{}.{}", nvrtc().major, nvrtc().minor);
  } catch (const UserError&) {
    // Without a compiler, what any compiler made of the same sources is right as well.
    for (const fs::path& path : files_with_stem(folder, stem + "-"))
      if (std::optional<std::string> cubin = find_cubin(path, key_of(path.stem().string())))
        return {
            .bytes = std::move(*cubin), .origin = "cached", .compiler = path.stem().string().substr(stem.size() + 1)};
    throw;
  }
  const std::string key = fmt::format("{}-{}", key_of(stem), compiler);
  const fs::path path = folder / fmt::format("{}-{}.cubin", stem, compiler);
  if (!folder.empty())
    if (std::optional<std::string> cubin = find_cubin(path, key))
      return {.bytes = std::move(*cubin), .origin = "cached", .compiler = compiler};
  if (auto found = compiled.find(path.string()); found != compiled.end()) return found->second;
  log(LogLevel::info, "jit", "compiling the {} for {} with {}", what, name_of(request.architecture), compiler);
  InterpreterCubin made{.bytes = compile(request).cubin, .origin = "compiled", .compiler = compiler};
  if (folder.empty())
    warn_once(
        fmt::format("no cache folder is known (HOME is not set): the {} is compiled anew in every process", what));
  else
    keep(path, key, made.bytes, what);
  return compiled[path.string()] = std::move(made);
}

}  // namespace megakittens::jit
