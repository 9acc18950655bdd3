// Time and memory of scheduling and verifying deep graphs: 80 layers give 140,000 instructions.
// Recorded: bench/results/schedule.json (--benchmark_out=... --benchmark_out_format=json).
#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "support/graphs.hpp"

namespace megakittens {
namespace {

ir::Graph deep_graph(int layers) {
  return test::transformer({.tokens = 512, .width = 2560, .hidden = 2816, .layers = layers});
}

schedule::ScheduleOptions options() {
  return {.config = {}, .tiling = ops::Tiling::automatic, .name = {}, .resolve = {}};
}

/// The process's highest resident memory since the last reset, in MB.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}
void reset_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

void schedule_layers(benchmark::State& state) {
  const ir::Graph graph = deep_graph(static_cast<int>(state.range(0)));
  std::size_t instructions = 0;
  reset_peak();
  for (auto _ : state) instructions = schedule::schedule(graph, options()).instructions.size();
  state.counters["instructions"] = static_cast<double>(instructions);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(instructions));
  state.counters["peak_MB"] = peak_megabytes();
}

void verify_layers(benchmark::State& state) {
  const program::Program program = schedule::schedule(deep_graph(static_cast<int>(state.range(0))), options());
  reset_peak();
  for (auto _ : state) {
    if (!schedule::verify(program).empty()) state.SkipWithError("the schedule has findings");
  }
  state.counters["instructions"] = static_cast<double>(program.instructions.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(program.instructions.size()));
  state.counters["peak_MB"] = peak_megabytes();
}

BENCHMARK(schedule_layers)->Arg(10)->Arg(20)->Arg(40)->Arg(80)->Unit(benchmark::kMillisecond);
BENCHMARK(verify_layers)->Arg(10)->Arg(20)->Arg(40)->Arg(80)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace megakittens

BENCHMARK_MAIN();
