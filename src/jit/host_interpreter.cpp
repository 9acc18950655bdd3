// Users' types for the emulator: the host's compiler makes a library of the interpreter and their device halves.
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <mutex>

#include "jit/cubin_cache.hpp"
#include "jit/sources.hpp"
#include "jit/user_interpreter.hpp"
#include "megakittens/version.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/options.hpp"
#include "support/process.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

// Sources say fma where they mean it. Inlining all of an instruction costs seconds and gains little here.
constexpr const char* kOptions[] = {"-std=c++20",        "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
                                    "-ffp-contract=off", "-w",  "-x",    "c++"};

/// A folder beside `wanted`, to be renamed to it.
fs::path fresh_folder(const fs::path& wanted) {
  std::error_code fault;
  fs::create_directories(wanted.parent_path(), fault);
  std::string name = wanted.string() + ".XXXXXX";
  if (fault || ::mkdtemp(name.data()) == nullptr)
    throw UserError(fmt::format("cannot write to the cache folder '{}': {}; MEGAKITTENS_CACHE_DIR names another",
                                wanted.parent_path().string(),
                                fault ? fault.message() : std::generic_category().message(errno)));
  return name;
}

/// The device sources as files, once for each version of them.
fs::path source_folder(const fs::path& cache) {
  const fs::path folder = cache / ("sources-" + host_sources_hash());
  std::error_code ignored;
  if (fs::exists(folder, ignored)) return folder;
  const fs::path fresh = fresh_folder(folder);
  for (const auto& table : {embedded_sources(), embedded_host_sources()})
    for (const EmbeddedSource& source : table) {
      const fs::path file = fresh / source.path;
      fs::create_directories(file.parent_path());
      write_file(file, source.text);
    }
  using enum fs::perms;
  fs::permissions(fresh, owner_all | group_read | group_exec | others_read | others_exec);
  fs::rename(fresh, folder, ignored);
  if (ignored) fs::remove_all(fresh);  // another process was first
  return folder;
}

}  // namespace

HostCompiler host_compiler() {
  const std::string wanted = text_option(Knob::cxx);
  const std::vector<std::string> names =
      wanted.empty() ? std::vector<std::string>{"c++", "g++", "clang++"} : std::vector<std::string>{wanted};
  for (const std::string& name : names) {
    const fs::path path = find_program(name);
    if (path.empty()) continue;
    static std::mutex mutex;
    static std::map<fs::path, std::string> versions;
    std::scoped_lock lock(mutex);
    if (auto known = versions.find(path); known != versions.end()) return {.path = path, .version = known->second};
    const ProcessResult result = run_process({path.string(), "--version"});
    if (result.status != 0) continue;
    versions[path] = result.output.substr(0, result.output.find('\n'));
    return {.path = path, .version = versions[path]};
  }
  throw UserError(wanted.empty()
                      ? "users' instruction types need a C++20 compiler to run on the emulator, and none of c++, g++ "
                        "and clang++ is "
                        "on PATH: install one (Debian: g++), or let MEGAKITTENS_CXX name it"
                      : fmt::format("MEGAKITTENS_CXX names '{}', which is no compiler that can be run", wanted));
}

fs::path host_interpreter(Architecture architecture, std::span<const ops::DeviceHalf> halves, bool fresh) {
  const fs::path cache = cache_folder();
  if (cache.empty())
    throw UserError("no cache folder is known, which users' instruction types need: set MEGAKITTENS_CACHE_DIR or HOME");
  const HostCompiler compiler = host_compiler();
  const std::string source = user_interpreter_source(architecture, halves, Side::host);
  Hasher hasher;
  hasher.add(version()).add(host_sources_hash()).add(source).add(compiler.path.string()).add(compiler.version);
  for (const char* option : kOptions) hasher.add(option);
  for (const ops::DeviceHalf& half : halves) hasher.add(half.hash);
  const fs::path library = cache / fmt::format("user-host-{}.so", hasher.digest().hex());
  static std::mutex mutex;  // one compilation at a time a process
  std::scoped_lock lock(mutex);
  std::error_code ignored;
  if (!fresh && fs::exists(library, ignored)) return library;

  std::string names;
  for (const ops::DeviceHalf& half : halves) names += (names.empty() ? "" : ", ") + half.name;
  log(LogLevel::info, "jit", "compiling the host's interpreter with {} by {}", names, compiler.path.string());
  const fs::path sources = source_folder(cache);
  const fs::path work = fresh_folder(library);
  write_file(work / "interpreter.cpp", source);
  std::vector<std::string> command{compiler.path.string()};
  command.insert(command.end(), std::begin(kOptions), std::end(kOptions));
  for (const std::string& part : {"-I" + sources.string(), (work / "interpreter.cpp").string(), std::string("-o"),
                                  (work / "interpreter.so").string()})
    command.push_back(part);
  const ProcessResult result = run_process(command);
  if (result.status == 0) fs::rename(work / "interpreter.so", library);
  fs::remove_all(work, ignored);
  if (result.status != 0)
    throw CompileError(fmt::format("the device half of {} does not compile for the emulator with {}:\n{}", names,
                                   compiler.path.string(), result.output),
                       result.output);
  return library;
}

}  // namespace megakittens::jit
