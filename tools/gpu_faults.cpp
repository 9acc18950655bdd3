// The named faults on a Hopper GPU, each in processes of its own (tests/support/gpu_faults.hpp, fault_run.hpp):
//   gpu_faults compile FOLDER   the faulted interpreters; needs NVRTC, and compiles JOBS at a time
//   gpu_faults run FOLDER RESULTS [LAUNCHES [FAULT...]]  every fault on its programs, where a GPU is; writes JSON
// and, called by these: compile-one FOLDER FAULT; run-some FOLDER LINES LAUNCHES FAULT PROGRAM...
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "megakittens/version.hpp"
#include "runtime/cuda_device.hpp"
#include "support/error.hpp"
#include "support/fault_run.hpp"
#include "support/files.hpp"
#include "support/gpu_faults.hpp"
#include "support/json.hpp"

namespace megakittens {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr const char* kNone = "none";  ///< no fault: the reference
constexpr std::chrono::seconds kRunLimit{15}, kReferenceLimit{120}, kCompileLimit{300};
constexpr const char* kWaitLimit = "200";  // milliseconds

/// Runs this program with other arguments; its output is part of ours.
pid_t spawn(const Arguments& arguments) {
  std::vector<const char*> pointers = {"gpu_faults"};
  for (const std::string& argument : arguments) pointers.push_back(argument.c_str());
  pointers.push_back(nullptr);
  const pid_t child = ::fork();
  MK_CHECK(child >= 0, "no process can be started");
  if (child > 0) return child;
  ::execv("/proc/self/exe", const_cast<char* const*>(pointers.data()));
  ::_exit(127);
}

/// Exit code, or nothing where the time was over: then the process has been killed.
std::optional<int> finish(pid_t child, Clock::time_point end) {
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() > end) {
      ::kill(child, SIGKILL);
      // Not for ever: a process whose kernel hangs may take long to go.
      for (int i = 0; i < 100 && ::waitpid(child, &status, WNOHANG) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

test::GpuFault fault_of(const std::string& name) {
  if (name == kNone) return {kNone};
  for (test::GpuFault& fault : test::gpu_faults())
    if (fault.name == name) return fault;
  throw OptionError(fmt::format("no fault is called '{}'", name));
}

/// Faults of the program run on the interpreter without a fault.
fs::path interpreter_folder(const fs::path& folder, const test::GpuFault& fault) {
  return folder / (fault.edits.empty() ? kNone : std::string(fault.name));
}

/// Whether the fault has machine code of its own.
bool is_compiled(const test::GpuFault& fault) {
  return !fault.edits.empty() && fault.reason.empty();
}

fs::path cubin_path(const fs::path& folder, const test::GpuFault& fault) {
  return test::edited_cubin_path(interpreter_folder(folder, fault), "fault", fault.edits);
}

void compile_one(const fs::path& folder, const std::string& name) {
  const test::GpuFault fault = fault_of(name);
  test::compile_edited(interpreter_folder(folder, fault), "fault", fault.edits);
}

int compile_all(const fs::path& folder) {
  Arguments names = {kNone};
  for (const test::GpuFault& fault : test::gpu_faults())
    if (is_compiled(fault)) names.emplace_back(fault.name);
  const char* given = std::getenv("JOBS");
  const std::size_t jobs = given == nullptr ? std::thread::hardware_concurrency() : std::stoul(given);
  std::vector<std::thread> threads;
  std::atomic<std::size_t> next{0};
  std::atomic<int> failures{0};
  for (std::size_t t = 0; t < std::max<std::size_t>(jobs, 1); ++t)
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < names.size(); i = next++) {
        if (fs::exists(cubin_path(folder, fault_of(names[i])))) continue;
        if (finish(spawn({"compile-one", folder.string(), names[i]}), Clock::now() + kCompileLimit) != 0) ++failures;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::printf("[gpu-faults] %zu interpreters, %d failed\n", names.size(), failures.load());
  return failures == 0 ? 0 : 1;
}

std::string file_name(const std::string& program) {
  std::string name = program;
  std::ranges::replace_if(name, [](char c) { return c == ' ' || c == ',' || c == '/'; }, '_');
  return name;
}

const emulator::NamedFault& named(const std::string& fault) {
  for (const emulator::NamedFault& each : emulator::named_faults())
    if (each.name == fault || fault == kNone) return each;
  throw OptionError(fmt::format("no fault is called '{}'", fault));
}

test::CheckedProgram program_of(const std::string& name) {
  for (const emulator::NamedFault& each : emulator::named_faults())
    for (test::CheckedProgram& checked : test::gpu_fault_programs(each))
      if (checked.name == name) return std::move(checked);
  throw OptionError(fmt::format("no program is called '{}'", name));
}

/// One line of JSON a program into `results`, as each is known; none after the first launch error, which takes the
/// context with it.
void run_some(const fs::path& folder, const fs::path& results, unsigned launches, const std::string& fault,
              const Arguments& programs) {
  ::setenv("MEGAKITTENS_CACHE_DIR", interpreter_folder(folder, fault_of(fault)).c_str(), 1);
  ::setenv("MEGAKITTENS_NVRTC", (folder / "no-compiler").c_str(), 1);  // what the cache holds is to be taken
  ::setenv("MEGAKITTENS_WAIT_LIMIT_MS", kWaitLimit, 1);
  const bool reference = fault == kNone;
  std::ofstream lines(results);
  for (const std::string& program : programs) {
    const test::FaultVerdict verdict =
        test::run_fault(program_of(program), reference ? emulator::ProgramFault::none : named(fault).program,
                        {launches, folder / ("expected-" + file_name(program)), reference});
    const Json json = {{"fault", fault},
                       {"program", program},
                       {"verdict", verdict.verdict},
                       {"launches", verdict.launches},
                       {"detail", verdict.detail}};
    lines << json.dump() << std::endl;
    if (verdict.verdict == "launch error") break;
  }
  std::fflush(nullptr);
  ::_exit(0);  // not waiting for a context that may be lost
}

/// Runs the fault on each of the programs, in a new process wherever the last one ended early.
std::vector<Json> run_in_processes(const fs::path& folder, const std::string& launches, const std::string& fault,
                                   Arguments programs) {
  const fs::path results = folder / "results.jsonl";
  std::vector<Json> runs;
  while (!programs.empty()) {
    fs::remove(results);
    Arguments arguments = {"run-some", folder.string(), results.string(), launches, fault};
    arguments.insert(arguments.end(), programs.begin(), programs.end());
    const auto limit = fault == kNone ? kReferenceLimit : kRunLimit;
    const std::optional<int> code = finish(spawn(arguments), Clock::now() + limit);
    std::ifstream lines(results);
    std::size_t done = 0;
    for (std::string line; std::getline(lines, line); ++done)
      if (!line.empty()) runs.push_back(parse_json(line, results.string()));
    if (done < programs.size() && (code != 0 || done == 0)) {
      const std::string detail =
          code ? fmt::format("exit code {}", *code) : fmt::format("not at its end after {} s", limit.count());
      runs.push_back({{"fault", fault},
                      {"program", programs[done]},
                      {"verdict", code ? "crashed" : "stuck"},
                      {"launches", nullptr},
                      {"detail", detail}});
      ++done;
      // One hang is enough evidence, and each one costs the whole time limit.
      for (std::size_t i = done; !code && i < programs.size(); ++i) {
        runs.push_back({{"fault", fault},
                        {"program", programs[i]},
                        {"verdict", "not run"},
                        {"launches", nullptr},
                        {"detail", "after one that was stuck"}});
        ++done;
      }
    }
    programs.erase(programs.begin(), programs.begin() + static_cast<std::ptrdiff_t>(done));
  }
  return runs;
}

Json machine() {
  runtime::CudaDevice& device = runtime::CudaDevice::get(0);
  int driver = 0;
  MK_CUDA(driver_get_version(&driver));
  const std::time_t now = std::time(nullptr);
  char date[16] = "";
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  const char* commit = std::getenv("MK_COMMIT");
  return {{"device", device.name()},
          {"multiprocessors", device.sms()},
          {"driver", fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10)},
          {"megakittens", version()},
          {"commit", commit == nullptr ? "" : commit},
          {"date", date}};
}

int run_all(const fs::path& folder, const fs::path& results, const std::string& launches, const Arguments& only) {
  Json all = {{"kind", "gpu faults"}, {"launches", std::stoul(launches)}, {"wait_limit_ms", std::stoul(kWaitLimit)}};
  Json runs = Json::array();
  for (const std::string& name : only) named(name);
  std::set<std::string> references;
  std::map<std::string, unsigned> verdicts;
  for (const test::GpuFault& fault : test::gpu_faults()) {
    const std::string name(fault.name);
    if (!only.empty() && std::ranges::find(only, name) == only.end()) continue;
    if (!fault.reason.empty()) {
      runs.push_back({{"fault", name},
                      {"program", nullptr},
                      {"verdict", "not in a GPU build"},
                      {"launches", nullptr},
                      {"detail", fault.reason}});
      continue;
    }
    Arguments programs;
    Arguments fresh;
    for (const test::CheckedProgram& checked : test::gpu_fault_programs(named(name))) {
      programs.push_back(checked.name);
      if (references.insert(checked.name).second) fresh.push_back(checked.name);
    }
    // The run ends if a program fails without a fault: results with faults would mean nothing.
    for (const Json& reference : run_in_processes(folder, launches, kNone, fresh))
      if (reference["verdict"] != "not seen") throw ExecutionError("the unfaulted program: " + reference.dump());
    for (Json& run : run_in_processes(folder, launches, name, programs)) {
      const std::string verdict = run["verdict"];
      std::printf("[gpu-faults] %s on %s: %s after %s\n", name.c_str(), run["program"].get<std::string>().c_str(),
                  verdict.c_str(), run["launches"].dump().c_str());
      ++verdicts[verdict];
      runs.push_back(std::move(run));
    }
    // What is known if this process does not reach its end; the page is made of whole results only.
    all["runs"] = runs;
    write_file(results.string() + ".partial", all.dump(1) + "\n");
  }
  all["runs"] = std::move(runs);
  all["machine"] = machine();
  write_file(results, all.dump(1) + "\n");
  fs::remove(results.string() + ".partial");
  for (const auto& [verdict, count] : verdicts) std::printf("[gpu-faults] %s: %u\n", verdict.c_str(), count);
  return verdicts.contains("crashed") ? 1 : 0;
}

int run(const Arguments& a) {
  if (a.size() == 2 && a[0] == "compile") return compile_all(a[1]);
  if (a.size() >= 3 && a[0] == "run")
    return run_all(a[1], a[2], a.size() > 3 ? a[3] : "200",
                   a.size() > 4 ? Arguments(a.begin() + 4, a.end()) : Arguments());
  if (a.size() == 3 && a[0] == "compile-one") return compile_one(a[1], a[2]), 0;
  if (a.size() > 5 && a[0] == "run-some")
    return run_some(a[1], a[2], static_cast<unsigned>(std::stoul(a[3])), a[4], {a.begin() + 5, a.end()}), 0;
  throw OptionError("usage: gpu_faults compile FOLDER | run FOLDER RESULTS [LAUNCHES [FAULT...]]");
}

}  // namespace
}  // namespace megakittens

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // progress shows in pipes, too
  try {
    return megakittens::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[gpu-faults] %s\n", error.what());
    return 1;
  }
}
