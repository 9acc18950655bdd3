// The public headers, and only they.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <megakittens/megakittens.hpp>

#include "support/stand_in.hpp"

namespace megakittens {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kSms = 4;

ScheduleOptions few_sms() {
  ScheduleOptions options;
  options.sms = kSms;
  return options;
}

/// relu(x @ w + b) * 0.5, x given transposed.
Graph layer() {
  Builder builder("layer");
  const Expression x = builder.input("x", DType::bf16, {64, 32});
  const Expression w = builder.input("w", DType::bf16, {2, 64, 48});
  const Expression b = builder.input("b", DType::bf16, {48});
  builder.output(relu(matmul(x.transpose(0, 1), w.select(0, 1)) + b) * 0.5);
  return builder.build();
}

std::vector<HostTensor> random_inputs(const Graph& graph) {
  std::vector<HostTensor> inputs;
  for (const TensorInfo& info : graph.inputs()) inputs.push_back(HostTensor::random(info.dtype, info.shape, 3, 0.25f));
  return inputs;
}

}  // namespace

TEST(Api, a_built_graph_runs_and_equals_its_reference) {
  const Graph graph = layer();
  const std::vector<HostTensor> inputs = random_inputs(graph);
  const RunResult result = graph.schedule(few_sms()).run(inputs);
  ASSERT_EQ(result.outputs.size(), 1u);
  EXPECT_EQ(result.outputs[0].shape(), (Shape{32, 48}));
  const std::vector<float> got = result.outputs[0].to_floats();
  const std::vector<float> want = graph.evaluate(inputs)[0].to_floats();
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 0.02) << i;
}

TEST(Api, every_target_runs_on_the_emulator) {
  const Graph graph = layer();
  const std::vector<HostTensor> inputs = random_inputs(graph);
  const std::vector<float> want = graph.evaluate(inputs)[0].to_floats();
  for (const std::string& target : targets()) {
    ScheduleOptions options = few_sms();
    options.target = target;
    const std::vector<float> got = graph.schedule(options).run(inputs).outputs[0].to_floats();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 0.02) << target << " " << i;
  }
}

TEST(Api, a_gpu_runs_the_same_program) {
  const test::StandInDriver gpu;
  gpu.set("emulate", 1);
  gpu.set("sms", kSms);
  const Graph graph = layer();
  const std::vector<HostTensor> inputs = random_inputs(graph);
  const Program program = graph.schedule(options_for_gpu());
  const RunResult here = program.run(inputs);
  const RunResult there = program.run(inputs, {.device = Device::cuda, .timed_launches = 2});
  EXPECT_EQ(here.outputs[0].to_floats(), there.outputs[0].to_floats());
  EXPECT_GT(there.seconds, 0);
  EXPECT_THAT([&] { program.run(inputs, {.device = Device::cuda, .gpu = 3}); },
              testing::ThrowsMessage<UserError>(HasSubstr("there is no GPU 3")));
}

TEST(Api, an_input_that_is_written_comes_back_and_the_callers_stays) {
  Builder builder;
  const Expression cache = builder.input("cache", DType::f32, {4, 8});
  const Expression row = builder.input("row", DType::f32, {8});
  builder.output(cache.select(0, 2).assign(row));
  const Graph graph = builder.build();
  const HostTensor zeros(DType::f32, {4, 8});
  const HostTensor ones = HostTensor::from_floats(DType::f32, {8}, std::vector<float>(8, 1.0f));
  const RunResult result = graph.schedule(few_sms()).run({zeros, ones});
  const std::vector<float> after = result.inputs[0].to_floats();
  EXPECT_EQ(after[15], 0);
  EXPECT_EQ(after[16], 1);
  EXPECT_EQ(after[23], 1);
  EXPECT_EQ(after[24], 0);
  EXPECT_EQ(zeros.to_floats()[16], 0);
}

TEST(Api, a_graph_with_symbols_runs_once_they_are_bound) {
  const Graph graph = Graph::from_json(R"({"megakittens_graph": 2, "name": "f", "symbols": {"s0": 2},
    "values": [{"name": "x", "dtype": "f32", "shape": ["s0", 3]}, {"name": "y", "dtype": "f32", "shape": ["s0", 3]}],
    "inputs": [0], "nodes": [{"op": "relu", "name": "y", "operands": [[0]], "outputs": [1]}], "outputs": [[1]]})");
  EXPECT_EQ(graph.symbols().at("s0"), 2);
  const Graph bound = graph.bind({{"s0", 5}});
  EXPECT_TRUE(bound.symbols().empty());
  const std::vector<HostTensor> inputs = random_inputs(bound);
  EXPECT_EQ(inputs[0].shape(), (Shape{5, 3}));
  EXPECT_EQ(bound.schedule(few_sms()).run(inputs).outputs[0].to_floats(), bound.evaluate(inputs)[0].to_floats());
  EXPECT_THAT([&] { graph.schedule(few_sms()); }, testing::ThrowsMessage<UserError>(HasSubstr("unbound symbols s0")));
  EXPECT_THAT([&] { graph.evaluate(inputs); }, testing::ThrowsMessage<UserError>(HasSubstr("unbound symbols s0")));
}

TEST(Api, graphs_and_programs_survive_their_files) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("megakittens_api_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const Graph graph = layer();
  graph.save(folder / "g.mkg.json");
  EXPECT_EQ(Graph::load(folder / "g.mkg.json").to_json(), graph.to_json());
  const Program program = graph.schedule(few_sms());
  program.save(folder / "p.mkp");
  const Program loaded = Program::load(folder / "p.mkp");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(loaded.to_text(), program.to_text());
  EXPECT_EQ(loaded.instruction_count(), program.instruction_count());
  EXPECT_THAT(loaded.describe_instruction(0), HasSubstr("instruction 0"));
}

TEST(Api, views_and_casts_have_the_shapes_of_pytorch) {
  Builder builder;
  const Expression x = builder.input("x", DType::bf16, {2, 6, 4});
  EXPECT_EQ(x.slice(1, 1, 6, 2).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(x.permute({2, 0, 1}).shape(), (Shape{4, 2, 6}));
  EXPECT_EQ(x.reshape({-1, 8}).shape(), (Shape{6, 8}));
  EXPECT_EQ(x.select(0, 0).unsqueeze(0).expand({5, 6, 4}).shape(), (Shape{5, 6, 4}));
  EXPECT_EQ(x.cast(DType::f32).dtype(), DType::f32);
  EXPECT_EQ(apply("lt", {x, x}).dtype(), DType::boolean);
}

}  // namespace megakittens
