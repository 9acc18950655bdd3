// Random graphs all the way: verified schedules, whose emulated results are the reference's whatever the order in which
// warps and copies move. Inputs are small whole numbers and operations keep them so: results are compared bit for bit.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/options.hpp"
#include "support/random_graph.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

/// The whole range from the first case on.
int pick(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high));
}

ir::Graph graph_of(int nodes, int extent) {
  constexpr ir::DType kTypes[] = {ir::DType::bf16, ir::DType::bf16, ir::DType::f16, ir::DType::f32};
  return random_graph(pick, {.nodes = pick(1, nodes),
                             .extent = extent,
                             .products = true,
                             .in_place = true,
                             .dtype = kTypes[pick(0, 4)],
                             .exact_operations = true});
}

RunSetup random_setup() {
  RunSetup setup;
  program::Config& config = setup.schedule.config;
  config.architecture = pick(0, 3) == 0 ? program::Architecture::sm_100a : program::Architecture::sm_90a;
  config.queue = pick(0, 2) == 0 ? program::QueueMode::per_sm : program::QueueMode::global;
  config.cluster = static_cast<std::uint32_t>(pick(1, 3));
  config.sms = config.cluster * static_cast<std::uint32_t>(pick(1, 3));
  setup.schedule.tiling = pick(0, 4) == 0 ? ops::Tiling::seed : ops::Tiling::automatic;
  setup.misaligned = pick(0, 3) == 0 ? pick(1, 9) : 0;
  setup.integers = true;
  return setup;
}

std::uint64_t random_seed() {
  return static_cast<std::uint64_t>(pick(0, 1 << 30));
}

std::uint64_t schedules() {
  return flag_option(Knob::long_tests) ? 200 : 20;
}

}  // namespace

RC_GTEST_PROP(PipelineProperty, emulated_results_are_the_references_under_every_schedule, ()) {
  const ir::Graph graph = graph_of(6, 140);
  const RunSetup setup = random_setup();
  GraphRun run(graph, setup);
  const std::uint64_t first = random_seed();
  for (std::uint64_t n = 0; n < schedules(); ++n) {
    emulator::RunOptions options{.seed = first + n};
    if (n % 2 == 1) options.interleaving = {.strategy = emulator::Strategy::pct, .expected_steps = 3000};
    const std::string problem = problem_of(run.launch(first + n / 4, options), {});
    if (!problem.empty())
      RC_FAIL(fmt::format("seed {}: {}\n{}\n{}", first + n, problem, ir::to_string(graph), ir::to_string(run.graph())));
  }
}

RC_GTEST_PROP(PipelineProperty, larger_graphs_agree_too, ()) {
  const ir::Graph graph = graph_of(16, 300);
  RunSetup setup = random_setup();
  setup.run.seed = random_seed();
  const std::string problem = run_and_compare(graph, setup);
  if (!problem.empty()) RC_FAIL(problem + "\n" + ir::to_string(graph));
}

RC_GTEST_PROP(PipelineProperty, fused_programs_give_the_bits_of_unfused_ones, ()) {
  const ir::Graph graph = graph_of(10, 140);
  RunSetup setup = random_setup();
  setup.integers = false;
  setup.run.check = false;
  GraphRun fused(graph, setup);
  setup.passes.fusion = false;
  GraphRun plain(graph, setup);
  const RunResult a = fused.launch(), b = plain.launch();
  RC_ASSERT(a.report.ok() && b.report.ok());
  const std::string problem = difference(a.outputs, b.outputs) + difference(a.inputs, b.inputs);
  if (!problem.empty()) RC_FAIL(problem + "\n" + ir::to_string(graph) + "\n" + ir::to_string(fused.graph()));
}

RC_GTEST_PROP(PipelineProperty, graphs_and_programs_round_trip_in_all_forms, ()) {
  const ir::Graph graph = graph_of(12, 300);
  RC_ASSERT(ir::from_json(ir::to_json(graph)) == graph);
  GraphRun run(graph, random_setup());
  RC_ASSERT(ir::from_json(ir::to_json(run.graph())) == run.graph());
  RC_ASSERT(program::equal(program::from_bytes(program::to_bytes(run.program())), run.program()));
  RC_ASSERT(program::equal(program::from_text(program::to_text(run.program())), run.program()));
}

}  // namespace megakittens::test
