#include "jit/interpreter.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "jit/cubin_file.hpp"
#include "jit/nvrtc.hpp"
#include "jit/sources.hpp"
#include "megakittens/version.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/options.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

// Everything but the compiler: a shipped cubin is right whichever NVRTC this machine has.
std::string source_key(Architecture architecture) {
  Hasher hasher;
  hasher.add(version()).add(name_of(architecture)).add(sources_hash());
  for (const std::string& option : compiler_options(interpreter_request(architecture))) hasher.add(option);
  return hasher.digest().hex();
}

constexpr std::string_view kPrefix = "interpreter-";

std::string file_stem(Architecture architecture) {
  return fmt::format("{}{}-{}", kPrefix, name_of(architecture), source_key(architecture));
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

// Each sentence once a process.
void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> said;
  std::scoped_lock lock(mutex);
  if (said.insert(text).second) log(LogLevel::warning, "jit", "{}", text);
}

void keep(const fs::path& path, const std::string& key, const std::string& cubin) {
  try {
    std::error_code fault;
    fs::create_directories(path.parent_path(), fault);
    if (fault) throw UserError(fmt::format("cannot create '{}': {}", path.parent_path().string(), fault.message()));
    write_file(path, pack_cubin(key, cubin));
  } catch (const UserError& error) {
    warn_once(
        fmt::format("the compiled interpreter is not kept, and will be compiled again next time: {}", error.what()));
  }
}

std::optional<std::string> look_up(const fs::path& path, const std::string& key) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  std::optional<std::string> cubin = read_cubin(key, path);
  if (!cubin) warn_once(fmt::format("'{}' is damaged or cannot be read: compiling anew", path.string()));
  return cubin;
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
  return request;
}

fs::path cache_folder() {
  if (std::string folder = text_option(Knob::cache_dir); !folder.empty()) return folder;
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "megakittens";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "megakittens";
  return {};
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
    if (std::optional<std::string> cubin = look_up(folder / (stem + ".cubin"), source_key(architecture)))
      return {.bytes = std::move(*cubin), .origin = "shipped", .compiler = {}};

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
      if (std::optional<std::string> cubin = look_up(path, path.stem().string().substr(kPrefix.size())))
        return {
            .bytes = std::move(*cubin), .origin = "cached", .compiler = path.stem().string().substr(stem.size() + 1)};
    throw;
  }
  const std::string key = fmt::format("{}-{}", stem.substr(kPrefix.size()), compiler);
  const fs::path path = folder / fmt::format("{}-{}.cubin", stem, compiler);
  if (!folder.empty())
    if (std::optional<std::string> cubin = look_up(path, key))
      return {.bytes = std::move(*cubin), .origin = "cached", .compiler = compiler};
  if (auto found = compiled.find(path.string()); found != compiled.end()) return found->second;
  log(LogLevel::info, "jit", "compiling the interpreter for {} with {}", name_of(architecture), compiler);
  InterpreterCubin made{
      .bytes = compile(interpreter_request(architecture)).cubin, .origin = "compiled", .compiler = compiler};
  if (folder.empty())
    warn_once("no cache folder is known (HOME is not set): the interpreter is compiled anew in every process");
  else
    keep(path, key, made.bytes);
  return compiled[path.string()] = std::move(made);
}

}  // namespace megakittens::jit
