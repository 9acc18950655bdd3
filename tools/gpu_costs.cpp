// gpu_costs: what the interpreter itself costs on a Hopper GPU, in nanoseconds, as a line of JSON. Replays of a graph
// of 20 launches; medians; what a launch costs is taken off. bench/gpu/run.py calls it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "ir/builder.hpp"
#include "passes/pipeline.hpp"
#include "runtime/cuda_program.hpp"
#include "runtime/cuda_stream.hpp"
#include "schedule/schedule.hpp"
#include "support/error.hpp"

namespace megakittens {
namespace {

using program::Instruction;
using program::Program;

constexpr int kLaunches = 20, kReplays = 31;

/// Nanoseconds a launch takes in a graph of kLaunches.
double time_of(Program given) {
  runtime::CudaProgram loaded(std::move(given), runtime::CudaDevice::get(0));
  const Program& program = loaded.program();
  std::vector<runtime::DeviceMemory> memory;
  std::vector<runtime::CuPointer> inputs, outputs;
  for (const program::Port& port : program.inputs)
    inputs.push_back(memory.emplace_back(program.storages[port.storage].bytes).address());
  for (const program::Storage& storage : program.storages)
    if (storage.kind == program::StorageKind::output) outputs.push_back(memory.emplace_back(storage.bytes).address());
  for (const runtime::DeviceMemory& block : memory) runtime::CudaDevice::get(0).fill(block.address(), 0, block.bytes());
  const runtime::Stream own;
  const runtime::CuStream stream = own.get();
  loaded.launch(stream, inputs, outputs);
  loaded.synchronize();
  constexpr int kRelaxed = 2;
  MK_CUDA(stream_begin_capture(stream, kRelaxed));
  for (int i = 0; i < kLaunches; ++i) loaded.launch(stream, inputs, outputs);
  const runtime::CapturedGraph graph(stream);
  const runtime::Event begin, end;
  std::vector<double> times;
  for (int i = 0; i < kReplays; ++i) {
    MK_CUDA(event_record(begin.get(), stream));
    graph.replay(stream);
    MK_CUDA(event_record(end.get(), stream));
    MK_CUDA(event_synchronize(end.get()));
    float milliseconds = 0;
    MK_CUDA(event_elapsed_time(&milliseconds, begin.get(), end.get()));
    times.push_back(milliseconds * 1e6 / kLaunches);
  }
  loaded.synchronize();
  std::ranges::sort(times);
  return times[times.size() / 2];
}

/// `each` noops for every SM. Chained: a noop of one SM waits for the one before, which another SM runs.
Program noops(std::uint32_t each, bool chained = false) {
  Program program;
  program.config.cluster = 1;
  program.config.sms = runtime::CudaDevice::get(0).sms();
  program.nodes.resize(1);
  program.records.resize(1);
  const std::uint32_t count = each * (chained ? 1 : program.config.sms);
  for (std::uint32_t i = 0; i < count; ++i) {
    Instruction& noop = program.instructions.emplace_back();
    std::memset(&noop, 0, sizeof(noop));
    noop.number = i;
    noop.release_order[0] = 0x76543210;
    noop.release_order[1] = 0xfedcba98;
    if (!chained) continue;
    if (i > 0) {
      noop.wait_count = 1;
      noop.waits[0] = {.counter = i - 1, .needed = 1, .arrivals = 1};
      noop.guards[0] = 0xff;
    }
    if (i + 1 < count) {
      noop.arrival_count = 1;
      noop.arrivals[0] = i;
      program.counters.push_back({.arrivals = 1});
    }
  }
  return program;
}

/// `count` small elementwise tiles of 4 x 256 in each of `nodes` nodes, which wait for nothing.
Program tiles(std::int64_t nodes, std::int64_t count) {
  constexpr std::int64_t kTileRows = 4, kTileColumns = 256;
  ir::Builder builder("tiles");
  const ir::Handle x = builder.input("x", ir::DType::bf16, {nodes * kTileRows, count * kTileColumns});
  for (std::int64_t n = 0; n < nodes; ++n)
    builder.output(builder.relu({x.value, x.view.slice(0, n * kTileRows, (n + 1) * kTileRows)}));
  schedule::ScheduleOptions options;
  options.config.cluster = 1;
  options.config.sms = runtime::CudaDevice::get(0).sms();
  options.tiling = ops::Tiling::seed;  // tiles of one size, however many there are
  passes::Options passes;
  passes.fusion = false;
  return schedule::schedule(passes::run_pipeline(builder.build(), passes), options);
}

/// What a tile takes where all are of one node, and where an SM changes its node with every one.
struct TileTimes {
  double one, changing;
};

TileTimes time_of_tiles(std::int64_t nodes, double launch) {
  const std::int64_t sms = runtime::CudaDevice::get(0).sms();
  const Program one = tiles(1, nodes * sms), many = tiles(nodes, sms);
  for (const Program* program : {&one, &many})
    MK_CHECK(program->instructions.size() == static_cast<std::size_t>(nodes * sms), "{} tiles",
             program->instructions.size());
  const auto each = static_cast<double>(nodes);
  return {(time_of(one) - launch) / each, (time_of(many) - launch) / each};
}

int run() {
  MK_CUDA(ctx_set_current(runtime::CudaDevice::get(0).context()));
  const double launch = time_of(noops(0));
  const double noop = (time_of(noops(1100)) - time_of(noops(100))) / 1000;
  const double hand_off = (time_of(noops(1100, true)) - time_of(noops(100, true))) / 1000;
  // A node has two maps. With few nodes all travel in the launch's parameters; with many those of the outputs take all
  // room, and every input's lies in memory.
  const TileTimes few = time_of_tiles(program::kMaxCallMaps / 2, launch);
  const TileTimes many = time_of_tiles(program::kMaxCallMaps, launch);
  fmt::print(
      "{{\"launch\": {:.0f}, \"noop\": {:.1f}, \"hand_off\": {:.0f}, \"tile\": {:.1f}, \"tile_of_changing_nodes\": "
      "{:.1f}, \"node\": {:.0f}, \"node_of_map_in_memory\": {:.0f}}}\n",
      launch, noop, hand_off, few.one, few.changing, few.changing - few.one, many.changing - many.one);
  return 0;
}

}  // namespace
}  // namespace megakittens

int main() {
  try {
    return megakittens::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "gpu_costs: {}\n", error.what());
    return 1;
  }
}
