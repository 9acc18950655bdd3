// Graphs that other tests know, on a Hopper GPU: captured ones, the checker's, views, random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "gpu/fixture.hpp"
#include "support/checked_programs.hpp"
#include "support/product_graphs.hpp"
#include "support/random_graph.hpp"
#include "support/run_graph.hpp"
#include "support/view_graphs.hpp"

namespace megakittens::test {
namespace {

/// Without the MLPs of 4096, for which the reference would take minutes.
std::vector<std::string> captured_graphs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(MK_SOURCE_DIR "/tests/golden")) {
    const std::string name = entry.path().filename().string();
    const std::size_t stem = name.rfind(".mkg.json");
    if (stem == std::string::npos || name.starts_with("mlp_4096")) continue;
    names.push_back(name.substr(0, stem));
  }
  std::sort(names.begin(), names.end());
  return names;
}

class GpuCapturedGraph : public Gpu, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Golden, GpuCapturedGraph, testing::ValuesIn(captured_graphs()),
                         [](const auto& param) { return test_name(param.param); });

TEST_P(GpuCapturedGraph, is_right) {
  expect_right(ir::load(MK_SOURCE_DIR "/tests/golden/" + GetParam() + ".mkg.json"));
}

/// Without those that differ from one before in the architecture or the queue mode alone.
std::vector<std::string> checked_programs() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const auto* list : {&fault_programs(), &silent_programs()})
    for (const CheckedProgram& program : *list) {
      const runtime::PrepareOptions& options = program.options;
      const std::string key = fmt::format("{} {} {} {}", options.sms, options.passes.fusion,
                                          options.tiling == ops::Tiling::seed, ir::to_string(program.graph()));
      if (seen.insert(key).second) names.push_back(program.name);
    }
  return names;
}

class GpuCheckedProgram : public Gpu, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, GpuCheckedProgram, testing::ValuesIn(checked_programs()),
                         [](const auto& param) { return test_name(param.param); });

TEST_P(GpuCheckedProgram, is_right) {
  const CheckedProgram& program = checked_program(GetParam());
  const runtime::PrepareOptions& options = program.options;
  schedule::ScheduleOptions how;
  how.tiling = options.tiling;
  if (options.sms != 0) how.config.sms = options.sms;
  expect_right(program.graph(), options.passes, how);
}

/// Operations that are exact: every value is the reference's.
void expect_values(const ir::Graph& graph, const RunSetup& inputs, const passes::Options& passes = {}) {
  for (const Configuration& configuration : kConfigurations) {
    DeviceRun run(graph, configuration.options(), passes);
    run.take(inputs_for(graph, inputs, 1));
    run.run();
    const ir::ReferenceResult got = run.results();
    EXPECT_EQ(difference(got.outputs, run.eager().outputs), "") << configuration.text();
    EXPECT_EQ(difference(got.inputs, run.eager().inputs), "") << configuration.text();
  }
}

/// Tests are registered by name; each takes its graph from the list, which is made once.
using GraphList = const std::vector<NamedGraph>& (*)();

const std::vector<NamedGraph>& all_views() {
  static const std::vector<NamedGraph> graphs = view_graphs();
  return graphs;
}

const std::vector<NamedGraph>& all_products() {
  static const std::vector<NamedGraph> graphs = product_graphs();
  return graphs;
}

std::vector<std::string> names(GraphList list) {
  std::vector<std::string> names;
  for (const auto& [name, graph] : list()) names.push_back(name);
  return names;
}

const ir::Graph& graph_called(GraphList list, const std::string& name) {
  return std::ranges::find(list(), name, &NamedGraph::name)->graph;
}

class GpuViews : public Gpu, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, GpuViews, testing::ValuesIn(names(all_views)),
                         [](const auto& param) { return param.param; });

TEST_P(GpuViews, are_right) {
  expect_values(graph_called(all_views, GetParam()), {});
}

class GpuProducts : public Gpu, public testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, GpuProducts, testing::ValuesIn(names(all_products)),
                         [](const auto& param) { return param.param; });

TEST_P(GpuProducts, are_right_and_of_whole_numbers_have_the_emulators_bits) {
  const ir::Graph& graph = graph_called(all_products, GetParam());
  // Its sums cancel: of other numbers its last bits depend on their order.
  if (GetParam() != "mixture") expect_right(graph);
  schedule::ScheduleOptions few;
  few.config.sms = 3;
  for (const Configuration& configuration : kConfigurations) {
    DeviceRun run(graph, configuration.options(few));
    run.take_integers();
    run.run();
    EXPECT_EQ(run.difference_from_emulator(), "") << configuration.text();
  }
}

constexpr int kSeedsOfATest = 6;

class GpuRandomGraphs : public Gpu, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(First, GpuRandomGraphs, testing::Values(0));
INSTANTIATE_TEST_SUITE_P(More, GpuRandomGraphs, testing::Range(1, 8));

TEST_P(GpuRandomGraphs, of_whole_numbers_are_right_fused_and_unfused) {
  constexpr ir::DType kTypes[] = {ir::DType::bf16, ir::DType::f16, ir::DType::f32};
  RunSetup inputs;
  inputs.integers = true;
  for (int seed = kSeedsOfATest * GetParam(); seed < kSeedsOfATest * (GetParam() + 1); ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low));
    };
    RandomGraphShape shape;
    shape.nodes = 12;
    shape.extent = 200;
    shape.dtype = kTypes[seed % 3];
    shape.exact_operations = true;
    const ir::Graph graph = random_graph(pick, shape);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, ir::to_string(graph)));
    for (const bool fusion : {true, false}) expect_values(graph, inputs, {.fusion = fusion});
  }
}

}  // namespace
}  // namespace megakittens::test
