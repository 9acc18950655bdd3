// The host's side of a GPU, on a stand-in for the driver that runs kernels on the emulator: what a call launches, what
// travels with it, and what is said when something fails.
#include "runtime/cuda_program.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "ir/builder.hpp"
#include "runtime/host_run.hpp"
#include "support/device_run.hpp"
#include "support/environment.hpp"
#include "support/error.hpp"
#include "support/stand_in.hpp"

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;
using testing::HasSubstr;

schedule::ScheduleOptions small_machine() {
  schedule::ScheduleOptions options;
  options.config.sms = 4;
  options.config.cluster = 1;
  return options;
}

/// x @ W[i] + b[i], with relu.
ir::Graph mlp(std::int64_t layers, std::int64_t rows = 64, std::int64_t width = 64) {
  Builder b("mlp");
  Handle x = b.input("x", DType::bf16, {rows, width});
  const Handle weights = b.input("W", DType::bf16, {layers, width, width});
  const Handle bias = b.input("b", DType::bf16, {layers, rows, width});
  auto pick = [](const Handle& t, std::int64_t i) { return Handle{t.value, t.view.select(0, i)}; };
  for (std::int64_t i = 0; i < layers; ++i) x = b.relu(b.add(b.matmul(x, pick(weights, i)), pick(bias, i)));
  b.output(x);
  return b.build();
}

class CudaProgram : public testing::Test {
 protected:
  CudaProgram() : folder_("MEGAKITTENS_CACHE_DIR", testing::TempDir() + "mk_cuda_program") {
    driver.set("emulate", 1);
    EXPECT_EQ(gpu_problem(), "");  // makes the context current
  }
  /// Whatever a test does: CTAs wait for each other, so the driver must promise to run all of them at once.
  void TearDown() override { EXPECT_EQ(driver.count("cooperative launches"), driver.count("cuLaunchKernelEx")); }
  /// The sentence of the error that `f` throws.
  template <class E, class F>
  std::string sentence(F&& f) {
    try {
      f();
    } catch (const E& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  StandInDriver driver;

 private:
  ScopedVariable folder_;
};

TEST(WaitLimit, a_limit_that_is_too_long_is_the_longest_there_is) {
  EXPECT_EQ(runtime::clocks_of(1, 1'980'000), 1'980'000u);
  EXPECT_EQ(runtime::clocks_of(2000, 1'980'000), 3'960'000'000u);
  constexpr std::uint64_t kMost = INT64_MAX;
  EXPECT_EQ(runtime::clocks_of(INT64_MAX, 1), kMost);
  EXPECT_EQ(runtime::clocks_of(INT64_MAX, 1'980'000), kMost);
  EXPECT_EQ(runtime::clocks_of(INT64_MAX / 2 + 1, 2), kMost);
}

TEST_F(CudaProgram, a_call_is_one_launch_and_nothing_else) {
  DeviceRun run(mlp(2), small_machine());
  run.launch();
  const char* watched[] = {
      "copies",        "fills",           "cuMemAlloc", "cuStreamSynchronize", "cuTensorMapEncodeTiled",
      "cuEventRecord", "cuCtxSynchronize"};
  std::vector<std::int64_t> before;
  for (const char* name : watched) before.push_back(driver.count(name));
  const std::int64_t launches = driver.count("cuLaunchKernelEx");
  for (int i = 0; i < 3; ++i) run.launch();
  EXPECT_EQ(driver.count("cuLaunchKernelEx"), launches + 3);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(driver.count(watched[i]), before[i]) << watched[i];
  EXPECT_EQ(run.problem(), "");
}

TEST_F(CudaProgram, every_launch_is_cooperative_with_clusters_and_in_a_captured_graph_too) {
  const std::int64_t before = driver.count("cooperative launches");
  for (const std::uint32_t cluster : {1u, 2u}) {
    schedule::ScheduleOptions options = small_machine();
    options.config.cluster = cluster;
    DeviceRun run(mlp(2), options);
    run.launch();
    MK_CUDA(stream_begin_capture(run.stream.get(), 0));
    run.launch();
    runtime::CuGraph graph = nullptr;
    MK_CUDA(stream_end_capture(run.stream.get(), &graph));
    MK_CUDA(graph_destroy(graph));
    EXPECT_EQ(run.problem(), "") << driver.report();
  }
  EXPECT_EQ(driver.count("cooperative launches"), before + 4);
}

TEST_F(CudaProgram, results_are_right_whether_tensors_travel_with_the_call_or_are_bound) {
  for (const std::vector<bool>& bound :
       {std::vector<bool>{}, std::vector<bool>{false, true, true}, std::vector<bool>{true, true, true}}) {
    DeviceRun run(mlp(3), small_machine());
    run.loaded = std::make_unique<runtime::CudaProgram>(run.program, runtime::CudaDevice::get(0), bound);
    run.run();
    EXPECT_EQ(run.problem(), "") << bound.size() << ": " << driver.report();
  }
}

TEST_F(CudaProgram, whole_numbers_leave_no_operand_of_zeros_and_give_the_emulators_bits) {
  DeviceRun run(mlp(2, 64, 512), small_machine());
  run.take_integers();
  for (const std::vector<float>& values : run.inputs())
    EXPECT_GT(std::ranges::count_if(values, [](float x) { return x != 0; }), std::ssize(values) / 2);
  run.run();
  EXPECT_EQ(run.problem(), "") << driver.report();
  EXPECT_EQ(run.difference_from_emulator(), "");
  run.clear_outputs();
  EXPECT_THAT(run.problem(), HasSubstr("elements differ"));
  EXPECT_THAT(run.difference_from_emulator(), HasSubstr("differs from the emulator's"));
}

TEST_F(CudaProgram, what_has_no_room_in_the_parameters_joins_the_tables) {
  DeviceRun run(mlp(20), small_machine());
  const runtime::CallLayout layout = runtime::lay_out(run.program, {});
  EXPECT_GT(run.program.maps.size(), program::kMaxCallMaps);
  EXPECT_EQ(layout.call_maps.size() + layout.other_maps.size(), program::kMaxCallMaps);
  EXPECT_FALSE(layout.bound_storages.empty());
  EXPECT_EQ(layout.call_storages.size() + layout.bound_storages.size(), 4u);
  // What keeps its address travels all the same while there is room: the workspace, and the first node's operands
  // first.
  const std::size_t travelling = layout.call_storages.size() + layout.other_storages.size();
  EXPECT_EQ(travelling, std::min<std::size_t>(run.program.storages.size(), program::kMaxCallStorages));
  for (const program::OperandRecord& operand : run.program.records[run.program.first_node()].operands)
    EXPECT_LT(layout.storage_number[operand.storage], program::kMaxCallStorages);
  run.run();
  EXPECT_EQ(run.problem(), "") << driver.report();
}

TEST_F(CudaProgram, maps_of_what_keeps_its_address_travel_too_while_there_is_room) {
  const DeviceRun run(mlp(3), small_machine());
  const runtime::CallLayout layout = runtime::lay_out(run.program, {false, true, true});
  EXPECT_FALSE(layout.other_maps.empty());
  EXPECT_EQ(layout.call_maps.size() + layout.other_maps.size(), run.program.maps.size());
}

TEST_F(CudaProgram, a_tensor_at_another_address_is_followed) {
  // Of 20 layers most maps lie in tables, of which a stream keeps eight: for the ninth address the host waits.
  for (const std::vector<bool>& bound : {std::vector<bool>{}, std::vector<bool>{true, true, true}}) {
    std::int64_t waits_of_few = 0;
    for (const std::int64_t layers : {2, 20}) {
      DeviceRun run(mlp(layers), small_machine());
      run.loaded = std::make_unique<runtime::CudaProgram>(run.program, runtime::CudaDevice::get(0), bound);
      run.run();
      const std::int64_t before = driver.count("cuStreamSynchronize");
      for (int i = 0; i < 12; ++i) {
        run.move_inputs();
        run.run();
        EXPECT_EQ(run.problem(), "") << layers << " layers, move " << i << ": " << driver.report();
      }
      const std::int64_t waits = driver.count("cuStreamSynchronize") - before;
      if (layers == 2)
        waits_of_few = waits;
      else
        EXPECT_GT(waits, waits_of_few);
    }
  }
}

TEST_F(CudaProgram, a_captured_graph_has_a_workspace_of_its_own_and_replays_elsewhere) {
  DeviceRun run(mlp(2), small_machine());
  run.launch();
  MK_CUDA(stream_begin_capture(run.stream.get(), 0));
  run.launch();
  run.launch();
  const runtime::CapturedGraph graph(run.stream.get());
  EXPECT_EQ(run.loaded->workspaces(), 2u);
  for (int i = 0; i < 3; ++i) {
    run.clear_outputs();
    run.launch();
    graph.replay(nullptr);
    EXPECT_EQ(run.problem(), "") << driver.report();
  }
}

TEST_F(CudaProgram, a_captured_graph_is_right_after_its_program_is_gone) {
  DeviceRun run(mlp(2), small_machine());
  MK_CUDA(stream_begin_capture(run.stream.get(), 0));
  run.launch();
  const runtime::CapturedGraph graph(run.stream.get());
  const std::int64_t before = driver.count("bytes");
  run.loaded.reset();
  EXPECT_EQ(driver.count("bytes"), before);
  for (int i = 0; i < 2; ++i) {
    run.clear_outputs();
    graph.replay(nullptr);
    MK_CUDA(ctx_synchronize());
    EXPECT_EQ(run.problem(), "") << driver.report();
  }
}

TEST_F(CudaProgram, streams_have_workspaces_and_streams_without_work_lend_theirs) {
  DeviceRun run(mlp(1), small_machine());
  for (int i = 0; i < 40; ++i) {
    runtime::CuStream stream = nullptr;
    MK_CUDA(stream_create(&stream, 1));
    run.launch(stream);
    MK_CUDA(stream_destroy(stream));
  }
  EXPECT_EQ(run.loaded->workspaces(), 16u);
  EXPECT_EQ(run.problem(), "");
}

TEST_F(CudaProgram, a_launch_that_gives_up_is_told_at_the_next_call_which_names_the_wait_and_then_all_is_right) {
  DeviceRun run(mlp(2), small_machine());
  const program::Program good = run.program;
  const std::size_t waiting = spoil_a_wait(run.program);
  run.rebind();
  run.launch();
  const std::string text = sentence<ExecutionError>([&] { run.launch(); });
  EXPECT_THAT(text,
              testing::MatchesRegex(fmt::format(
                  "program 'mlp' gave up on GPU 0: [a-z]+ \\(warp [0-9]+\\) of CTA [0-3] on SM [0-3], instruction {} "
                  "of node '[^']+' waited too long for counter [0-9]+: it is [0-9]+, needs [0-9]+\\. Results .*",
                  waiting)));
  EXPECT_TRUE(run.outputs_are_clear());
  run.launch();
  EXPECT_THAT(sentence<ExecutionError>([&] { run.loaded->synchronize(); }), HasSubstr("waited too long"));
  EXPECT_NO_THROW(run.loaded->synchronize());
  run.program = good;
  run.rebind();
  run.run();
  EXPECT_EQ(run.problem(), "");
}

// On the workspace itself: a program tells at its next launch, and makes none behind the one that gave up.
TEST_F(CudaProgram, the_launch_that_gave_up_and_those_behind_it_leave_ones_and_those_before_it_results) {
  const DeviceRun run(mlp(2), small_machine());
  runtime::CudaDevice& device = runtime::CudaDevice::get(0);
  const runtime::UploadedProgram uploaded(run.program, device, std::vector<bool>(run.program.inputs.size()));
  runtime::CudaWorkspace workspace(uploaded, false);
  std::vector<runtime::DeviceMemory> memory;
  std::vector<runtime::CuPointer> storages(run.program.storages.size());
  auto take = [&](std::uint32_t storage) {
    memory.emplace_back(run.program.storages[storage].bytes);
    storages[storage] = memory.back().address();
    device.fill(storages[storage], 0, run.program.storages[storage].bytes);
    return storages[storage];
  };
  for (const program::Port& port : run.program.inputs) take(port.storage);
  const std::uint32_t output = runtime::output_storages(run.program).at(0);
  const std::uint64_t bytes = run.program.storages[output].bytes;
  const std::vector<std::uint8_t> ones(bytes, 0xff);
  std::vector<runtime::CuPointer> written;
  auto launch = [&] {
    written.push_back(take(output));
    workspace.launch(run.stream.get(), storages);
  };
  for (int round = 0; round < 2; ++round) {
    written.clear();
    for (int i = 0; i < 2; ++i) launch();
    EXPECT_EQ(workspace.control().abort, 0u);
    workspace.disturb();
    for (int i = 0; i < 3; ++i) launch();
    const program::Control control = workspace.control();
    EXPECT_NE(control.abort, 0u);
    for (std::size_t i = 0; i < written.size(); ++i) {
      std::vector<std::uint8_t> found(bytes);
      device.download(found.data(), written[i], bytes);
      EXPECT_EQ(found == ones, i >= 2) << "launch " << i;
    }
    workspace.reset();
  }
}

TEST_F(CudaProgram, a_captured_graph_that_gave_up_replays_right_again_and_may_give_up_again) {
  DeviceRun run(mlp(2), small_machine());
  run.launch();
  MK_CUDA(stream_begin_capture(run.stream.get(), 0));
  run.launch();
  const runtime::CapturedGraph graph(run.stream.get());
  for (int round = 0; round < 2; ++round) {
    run.clear_outputs();
    graph.replay(nullptr);
    run.loaded->synchronize();
    EXPECT_EQ(run.problem(), "");
    run.loaded->plant_fault();
    // Who never asks gets NaN, of the replay that gave up and of the one behind it.
    for (int replay = 0; replay < 2; ++replay) {
      run.clear_outputs(0);
      graph.replay(nullptr);
      MK_CUDA(ctx_synchronize());
      EXPECT_TRUE(run.outputs_are_clear()) << "round " << round << " replay " << replay;
    }
    EXPECT_THAT(sentence<ExecutionError>([&] { run.loaded->synchronize(); }), HasSubstr("waited too long"));
  }
  run.clear_outputs();
  graph.replay(nullptr);
  run.loaded->synchronize();
  EXPECT_EQ(run.problem(), "");
}

TEST_F(CudaProgram, a_capture_behind_a_launch_that_gave_up_is_refused_and_stays_whole) {
  DeviceRun run(mlp(2), small_machine());
  run.launch();
  run.loaded->plant_fault();
  run.launch();
  MK_CUDA(stream_begin_capture(run.stream.get(), 0));
  EXPECT_THAT(sentence<ExecutionError>([&] { run.launch(); }), HasSubstr("before this capture"));
  runtime::CuGraph graph = nullptr;
  MK_CUDA(stream_end_capture(run.stream.get(), &graph));
  MK_CUDA(graph_destroy(graph));
  EXPECT_THAT(sentence<ExecutionError>([&] { run.launch(); }), HasSubstr("waited too long"));
  run.clear_outputs();
  run.launch();
  EXPECT_EQ(run.problem(), "");
}

TEST_F(CudaProgram, a_blocking_call_tells_at_once) {
  const ScopedVariable blocking("MEGAKITTENS_BLOCKING", "1");
  DeviceRun run(mlp(2), small_machine());
  spoil_a_wait(run.program);
  run.rebind();
  EXPECT_THAT(sentence<ExecutionError>([&] { run.launch(); }), HasSubstr("waited too long"));
}

TEST_F(CudaProgram, closing_gives_the_memory_back_and_later_calls_say_so) {
  DeviceRun run(mlp(2), small_machine());
  const std::int64_t before = driver.count("bytes");
  const auto program = std::make_unique<runtime::CudaProgram>(run.program, runtime::CudaDevice::get(0));
  run.launch();
  EXPECT_GT(driver.count("bytes"), before);
  EXPECT_GT(run.loaded->bytes(), 0u);
  program->close();
  run.loaded->close();
  EXPECT_LT(driver.count("bytes"), before);
  EXPECT_EQ(run.loaded->bytes(), 0u);
  EXPECT_THAT(sentence<UserError>([&] { run.launch(); }), HasSubstr("was closed"));
}

TEST_F(CudaProgram, too_little_memory_is_an_error_with_the_bytes_and_nothing_is_lost) {
  DeviceRun run(mlp(2), small_machine());
  const std::int64_t held = driver.count("bytes");
  driver.set("memory", held + 100);
  EXPECT_THAT(sentence<CapacityError>([&] { run.launch(); }), HasSubstr("the GPU is out of memory"));
  driver.set("memory", std::int64_t{1} << 34);
  EXPECT_EQ(driver.count("bytes"), held);
  run.run();
  EXPECT_EQ(run.problem(), "");
}

TEST_F(CudaProgram, what_does_not_fit_the_machine_is_refused_in_words) {
  EXPECT_THAT(sentence<UserError>([] { runtime::CudaDevice::get(3); }), HasSubstr("there is no GPU 3"));
  driver.set("devices", 2);
  driver.set("major", 8);
  EXPECT_THAT(sentence<UserError>([] { runtime::CudaDevice::get(1); }), HasSubstr("has compute capability 8.0"));
  driver.set("major", 9);
  DeviceRun run(mlp(1), small_machine());
  run.program.config.sms = 400;
  EXPECT_THAT(sentence<CapacityError>([&] { run.rebind(); }), HasSubstr("400 multiprocessors"));
  run.program.config.sms = 4;
  run.program.config.architecture = program::Architecture::sm_100a;
  EXPECT_THAT(sentence<UserError>([&] { run.rebind(); }), HasSubstr("is made for sm_100a"));
  driver.set("devices", 1);
}

TEST_F(CudaProgram, a_misaligned_address_is_named) {
  DeviceRun run(mlp(1), small_machine());
  const runtime::CuPointer inputs[] = {0x1008, 0x2000, 0x3000};
  const runtime::CuPointer outputs[] = {0x4000};
  EXPECT_THAT(sentence<UserError>([&] { run.loaded->launch(nullptr, inputs, outputs); }),
              HasSubstr("'x' lies at 0x1008"));
}

TEST_F(CudaProgram, a_driver_that_refuses_a_launch_says_so) {
  DeviceRun run(mlp(1), small_machine());
  driver.set("launch_result", 719);
  EXPECT_THAT(sentence<ExecutionError>([&] { run.launch(); }), HasSubstr("unspecified launch failure (error 719)"));
  driver.set("launch_result", 0);
  run.run();
  EXPECT_EQ(run.problem(), "");
}

}  // namespace
}  // namespace megakittens::test
