// Machines, queues, clusters, schedules by seed, and launches that follow each other on one workspace.
#include <gtest/gtest.h>

#include <set>

#include "ir/builder.hpp"
#include "ops/icodes.hpp"
#include "support/graphs.hpp"
#include "support/product_graphs.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Handle;
using ir::PointwiseOp;
using program::QueueMode;

/// Room for its sums that cancel.
constexpr Tolerance kMixture{.absolute = 0.125F, .relative = 0.02F};

struct MachineShape {
  std::uint32_t sms;
  std::uint32_t cluster;
  QueueMode queue;
};

class LaunchGraph : public testing::TestWithParam<MachineShape> {
 protected:
  static RunSetup setup() {
    RunSetup setup;
    setup.schedule.config.sms = GetParam().sms;
    setup.schedule.config.cluster = GetParam().cluster;
    setup.schedule.config.queue = GetParam().queue;
    return setup;
  }
};
INSTANTIATE_TEST_SUITE_P(Machines, LaunchGraph,
                         testing::Values(MachineShape{1, 1, QueueMode::per_sm}, MachineShape{1, 1, QueueMode::global},
                                         MachineShape{4, 2, QueueMode::per_sm}, MachineShape{4, 2, QueueMode::global},
                                         MachineShape{13, 1, QueueMode::per_sm},
                                         MachineShape{13, 1, QueueMode::global}),
                         [](const auto& info) {
                           const MachineShape& shape = info.param;
                           return std::to_string(shape.sms) + "_sms_clusters_of_" + std::to_string(shape.cluster) +
                                  (shape.queue == QueueMode::global ? "_global" : "_per_sm");
                         });

TEST_P(LaunchGraph, a_mixture_agrees_with_the_reference_under_many_schedules) {
  for (bool fusion : {false, true}) {
    RunSetup setup = LaunchGraph::setup();
    setup.passes.fusion = fusion;
    GraphRun run(mixture(), setup);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      setup.run.seed = seed;
      EXPECT_EQ(problem_of(run.launch(seed, setup.run), kMixture), "") << "seed " << seed;
    }
  }
}

TEST_P(LaunchGraph, the_seeds_tiling_gives_the_same_bits) {
  RunSetup setup = LaunchGraph::setup();
  setup.passes.fusion = false;
  GraphRun automatic(mixture(), setup);
  setup.schedule.tiling = ops::Tiling::seed;
  GraphRun seed(mixture(), setup);
  const RunResult a = automatic.launch(), b = seed.launch();
  EXPECT_EQ(problem_of(b, kMixture), "");
  EXPECT_EQ(difference(a.outputs, b.outputs), "");
}

TEST_P(LaunchGraph, results_do_not_depend_on_the_schedule) {
  RunSetup setup = LaunchGraph::setup();
  GraphRun run(mixture(), setup);
  const RunResult first = run.launch(3, setup.run);
  for (std::uint64_t seed = 2; seed <= 5; ++seed) {
    setup.run.seed = seed;
    EXPECT_EQ(difference(first.outputs, run.launch(3, setup.run).outputs), "") << "schedule seed " << seed;
  }
}

TEST_P(LaunchGraph, state_left_over) {
  // Every launch finds what the last one left: counters, tickets, the queue's head, workspace storages.
  RunSetup setup = LaunchGraph::setup();
  GraphRun run(mixture(), setup);
  for (std::uint64_t launch = 1; launch <= 4; ++launch) {
    setup.run.seed = 100 + launch;
    setup.run.check = launch % 2 == 0;
    EXPECT_EQ(problem_of(run.launch(launch, setup.run), kMixture), "") << "launch " << launch;
  }
}

TEST(LaunchGraph, a_whole_gpu_runs) {
  RunSetup setup;  // 132 SMs in clusters of two
  EXPECT_EQ(run_and_compare(mixture(), setup, kMixture), "");
}

TEST(LaunchGraph, output_buffers_shared_between_calls) {
  // What a call returned stays as it was when the next call runs with other inputs.
  GraphRun run(mixture(), small_machine());
  const RunResult first = run.launch(1, {}), second = run.launch(2, {}), again = run.launch(1, {});
  EXPECT_NE(difference(first.outputs, second.outputs), "");
  EXPECT_EQ(difference(first.outputs, again.outputs), "");
}

TEST(LaunchGraph, waits_and_arrivals_beyond_an_instruction_are_joined) {
  for (QueueMode queue : {QueueMode::per_sm, QueueMode::global}) {
    RunSetup setup = small_machine();
    setup.passes.fusion = false;
    setup.schedule.config.queue = queue;
    GraphRun run(many_writers(), setup);
    std::size_t joins = 0;
    for (const program::Instruction& instruction : run.program().instructions)
      joins += instruction.icode == ops::kIcode_noop && instruction.wait_count > 0;
    EXPECT_GT(joins, 0U);
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
      EXPECT_EQ(problem_of(run.launch(seed, {.seed = seed}), {}), "") << seed;
  }
}

TEST(LaunchGraph, page_maps_of_a_cta_pair_differ) {
  // Instructions of differing release orders, an odd number of them padded with a noop, then products.
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {384, 384}), w = b.input("w", DType::bf16, {384, 384});
  Handle h = x;
  for (int i = 0; i < 3; ++i) {
    h = b.relu(seen(h, h.view.slice(1, 0, 384)));
    h = b.pointwise(PointwiseOp::mul, b.matmul(seen(h, h.view.slice(0, 0, 384)), w), 0.05);
    Handle odd = b.add(seen(h, h.view.slice(0, 0, 129)), seen(x, x.view.slice(0, 0, 129)));
    h = b.assign(seen(h, h.view.slice(0, 1, 130)), odd);
  }
  b.output(h);
  for (QueueMode queue : {QueueMode::per_sm, QueueMode::global}) {
    RunSetup setup = small_machine();
    setup.passes.fusion = false;
    setup.schedule.config.cluster = 2;
    setup.schedule.config.queue = queue;
    GraphRun run(b.build(), setup);
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      EXPECT_EQ(problem_of(run.launch(seed, {.seed = seed}), kMixture), "") << seed;
  }
}

TEST(LaunchGraph, compile_time_grows_with_depth) {
  // A deeper model is more data for the same code: it brings no icode of its own.
  auto codes = [](int layers) {
    GraphRun run(mlp(128, 128, layers), small_machine());
    std::set<std::uint16_t> icodes;
    for (const program::Instruction& instruction : run.program().instructions) icodes.insert(instruction.icode);
    return icodes;
  };
  EXPECT_EQ(codes(2), codes(24));
}

TEST(LaunchGraph, the_same_seed_gives_the_same_run) {
  GraphRun one(mixture(), small_machine()), two(mixture(), small_machine());
  const RunResult a = one.launch(1, {.seed = 9}), b = two.launch(1, {.seed = 9});
  EXPECT_EQ(a.report.steps, b.report.steps);
  EXPECT_EQ(a.report.switches, b.report.switches);
  EXPECT_EQ(difference(a.outputs, b.outputs), "");
}

}  // namespace
}  // namespace megakittens::test
