// Users' types for the emulator: the host's compiler makes a library of the interpreter and their device halves.
#include <map>
#include <mutex>
#include <set>

#include "jit/cubin_cache.hpp"
#include "jit/sources.hpp"
#include "megakittens/version.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/options.hpp"
#include "support/process.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLibraryBytes = std::uint64_t{1} << 27;

// Sources say fma where they mean it. Inlining all of an instruction costs seconds and gains little here.
constexpr const char* kOptions[] = {"-std=c++20",        "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
                                    "-ffp-contract=off", "-w",  "-x",    "c++"};

bool holds(const fs::path& file, std::string_view text) {
  try {
    return read_file(file, text.size()) == text;
  } catch (const UserError&) {
    return false;
  }
}

void make_folder(const fs::path& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) throw UserError(fmt::format("cannot create '{}': {}", folder.string(), fault.message()));
}

/// The device sources as files; what is missing or differs is written again.
void write_sources(const fs::path& folder) {
  for (const auto& table : {embedded_sources(), embedded_host_sources()})
    for (const EmbeddedSource& source : table) {
      const fs::path file = folder / source.path;
      if (holds(file, source.text)) continue;
      make_folder(file.parent_path());
      write_file(file, source.text);
    }
}

/// The cache's folder of sources, once for each version of them; where that cannot be had, one in `work`.
fs::path source_folder(const fs::path& cache, const fs::path& work) {
  if (!cache.empty()) try {
      const fs::path folder = cache / ("sources-" + host_sources_hash());
      write_sources(folder);
      return folder;
    } catch (const UserError& error) {
      log(LogLevel::info, "jit", "the sources go to a temporary folder: {}", error.what());
    }
  write_sources(work / "sources");
  return work / "sources";
}

/// The library's bytes.
std::string compile_library(const fs::path& cache, const HostCompiler& compiler, const std::string& source,
                            const std::string& names) {
  log(LogLevel::info, "jit", "compiling the host's interpreter with {} by {}", names, compiler.path.string());
  const TemporaryFolder work;
  const fs::path input = work.path() / "interpreter.cpp";
  const fs::path output = work.path() / "interpreter.so";
  write_file(input, source);
  std::vector<std::string> command{compiler.path.string()};
  command.insert(command.end(), std::begin(kOptions), std::end(kOptions));
  command.push_back("-I" + source_folder(cache, work.path()).string());
  for (const std::string& part : {input.string(), std::string("-o"), output.string()}) command.push_back(part);
  const ProcessResult result = run_process(command);
  if (result.status != 0)
    throw CompileError(fmt::format("the device half of {} does not compile for the emulator with {}:\n{}", names,
                                   compiler.path.string(), result.output),
                       result.output);
  std::error_code ignored;
  if (!fs::exists(output, ignored))
    throw UserError(
        fmt::format("'{}' succeeded, but wrote no library: it is no C++ compiler with GCC's options; MEGAKITTENS_CXX "
                    "names another",
                    compiler.path.string()));
  return read_file(output, kMaxLibraryBytes);
}

/// Where libraries go that the cache does not take: for this process alone.
const fs::path& private_folder() {
  static const TemporaryFolder folder;
  return folder.path();
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

fs::path host_interpreter(Architecture architecture, Halves halves, bool fresh) {
  const fs::path cache = cache_folder();
  const HostCompiler compiler = host_compiler();
  const std::string source = interpreter_source(architecture, halves, Side::host);
  Hasher hasher;
  hasher.add(version()).add(host_sources_hash()).add(source).add(compiler.path.string()).add(compiler.version);
  for (const char* option : kOptions) hasher.add(option);
  for (const ops::DeviceHalf& half : halves) hasher.add(half.hash);
  const std::string key = hasher.digest().hex();
  const std::string name = fmt::format("user-host-{}.so", key);
  static std::mutex mutex;  // one compilation at a time a process; guards `unkept`
  static std::set<std::string> unkept;
  std::scoped_lock lock(mutex);
  std::error_code ignored;
  fs::path kept = cache / name;
  if (!cache.empty() && !fresh && fs::exists(kept, ignored)) {
    if (read_kept(key, kept)) return kept;
    warn_once(fmt::format("'{}' is damaged or cannot be read: compiling anew", kept.string()));
  }
  if (!fresh && unkept.contains(name) && read_kept(key, private_folder() / name)) return private_folder() / name;

  std::string names;
  for (const ops::DeviceHalf& half : halves) names += (names.empty() ? "" : ", ") + half.name;
  const std::string library = pack(key, compile_library(cache, compiler, source, names));
  if (cache.empty()) {
    warn_once("no cache folder is known (HOME is not set): users' types are compiled anew in every process");
  } else {
    try {
      make_folder(cache);
      write_file(kept, library);
      return kept;
    } catch (const UserError& error) {
      warn_once(fmt::format("the compiled interpreter with {} is not kept, and will be compiled again next time: {}",
                            names, error.what()));
    }
  }
  write_file(private_folder() / name, library);
  unkept.insert(name);
  return private_folder() / name;
}

}  // namespace megakittens::jit
