// Waits that nothing will satisfy: named where they are, bounded where waits are, and gone after a reset.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/builder.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Handle;
using program::Instruction;
using testing::AllOf;
using testing::HasSubstr;

/// General and tiled nodes, products by bulk copies and by hand, updates in place.
ir::Graph everything() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {64, 136}), w = b.input("w", DType::bf16, {136, 136});
  Handle odd = b.input("odd", DType::bf16, {33, 45}), v = b.input("v", DType::bf16, {45, 33});
  for (int i = 0; i < 2; ++i) {
    x = b.assign(x, b.relu(b.matmul(x, w)));
    Handle next = b.relu(b.matmul(odd, v));
    odd = b.assign(odd, b.pointwise(ir::PointwiseOp::mul, {b.matmul(next, {v.value, v.view.transpose(0, 1)}), odd}));
  }
  b.output(x);
  b.output(odd);
  return b.build();
}

RunSetup unfused() {
  RunSetup setup = small_machine();
  setup.passes.fusion = false;
  return setup;
}

emulator::RunOptions bounded(std::uint64_t seed) {
  emulator::RunOptions options;
  options.seed = seed;
  options.expire_waits = true;
  return options;
}

/// Makes a wait of the program unsatisfiable while it lives.
class Spoilt {
 public:
  Spoilt(GraphRun& run, std::uint32_t instruction, int wait)
      : wait_(run.spoil().instructions[instruction].waits[wait]), before_(wait_) {
    wait_.needed = wait_.arrivals + 1;
  }
  ~Spoilt() { wait_ = before_; }

 private:
  program::Wait& wait_;
  program::Wait before_;
};

const Instruction& first_that_waits(const program::Program& program) {
  for (const Instruction& instruction : program.instructions)
    if (instruction.wait_count > 0) return instruction;
  return program.instructions.front();
}

ir::Graph two_nodes() {
  ir::Builder b;
  b.output(b.relu(b.relu(b.input("x", DType::bf16, {5, 33}))));
  return b.build();
}

TEST(Abort, a_hang_without_a_word) {
  GraphRun run(two_nodes(), unfused());
  const Instruction& stuck = first_that_waits(run.program());
  ASSERT_EQ(stuck.wait_count, 1);
  Spoilt spoilt(run, stuck.number, 0);
  const RunResult result = run.launch(1, {});
  EXPECT_THAT(
      result.report.deadlock,
      AllOf(HasSubstr("(follower, instruction " + std::to_string(stuck.number) + ") polls global memory 'counters'"),
            HasSubstr("for the counter to reach 2"), HasSubstr("waits for parity"), HasSubstr("'stage_full[0]'")));
}

TEST(Abort, the_record_names_role_sm_instruction_node_and_counter_with_its_value_and_target) {
  GraphRun run(two_nodes(), unfused());
  const Instruction& stuck = first_that_waits(run.program());
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    run.workspace().reset();
    Spoilt spoilt(run, stuck.number, 0);
    const RunResult result = run.launch(1, bounded(seed));
    EXPECT_TRUE(result.report.ok()) << result.report.text();
    const program::AbortRecord& record = run.workspace().abort_record();
    EXPECT_EQ(record.claimed, 1U);
    EXPECT_EQ(record.role, static_cast<std::uint32_t>(program::Role::follower));
    EXPECT_EQ(record.instruction, stuck.number);
    EXPECT_EQ(record.kind, static_cast<std::uint32_t>(program::WaitKind::counter));
    EXPECT_EQ(record.what, stuck.waits[0].counter);
    EXPECT_EQ(record.value + 1, record.target);
    EXPECT_LT(record.sm, run.program().config.sms);
    EXPECT_EQ(
        emulator::describe(record, run.program()),
        fmt::format("follower (warp {}) of CTA {} on SM {}, instruction {} of node '{}' waited too long for counter "
                    "{}: it is {}, needs {}",
                    record.warp, record.cta, record.sm, stuck.number,
                    run.program().nodes[run.program().records[record.node].number].name, stuck.waits[0].counter,
                    record.value, record.target));
  }
}

TEST(Abort, later_launches_return_at_once_until_the_workspace_is_reset) {
  GraphRun run(everything(), unfused());
  const Tolerance loose{.absolute = 0.5F, .relative = 0.05F};
  const Instruction& stuck = first_that_waits(run.program());
  for (int round = 0; round < 2; ++round) {
    {
      Spoilt spoilt(run, stuck.number, 0);
      EXPECT_TRUE(run.launch(1, bounded(3)).report.ok());
    }
    const RunResult refused = run.launch(1, bounded(4));
    EXPECT_TRUE(refused.report.ok()) << refused.report.text();
    EXPECT_EQ(refused.report.expired_waits, 0U);
    EXPECT_NE(refused.outputs, refused.expected.outputs);
    EXPECT_EQ(run.workspace().abort_record().claimed, 1U);
    run.workspace().reset();
    EXPECT_EQ(run.workspace().abort_record().claimed, 0U);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) EXPECT_EQ(problem_of(run.launch(seed, bounded(seed)), loose), "");
  }
}

TEST(Abort, whichever_wait_is_unsatisfiable_every_role_runs_through) {
  for (program::QueueMode queue : {program::QueueMode::per_sm, program::QueueMode::global}) {
    RunSetup setup = unfused();
    setup.schedule.config.sms = 2;
    setup.schedule.config.queue = queue;
    GraphRun run(everything(), setup);
    std::uint64_t seed = 0;
    for (const program::NodeInfo& node : run.program().nodes) {
      const Instruction& instruction = run.program().instructions[node.first];
      for (int w = 0; w < instruction.wait_count; ++w) {
        Spoilt spoilt(run, instruction.number, w);
        run.workspace().reset();
        emulator::RunOptions options = bounded(++seed);
        options.check = seed % 4 == 0;
        const RunResult result = run.launch(1, options);
        EXPECT_TRUE(result.report.ok()) << "instruction " << instruction.number << " wait " << w << " seed " << seed
                                        << ": " << result.report.text();
        EXPECT_EQ(run.workspace().abort_record().claimed, 1U);
      }
    }
    run.workspace().reset();
    EXPECT_EQ(problem_of(run.launch(), {.absolute = 0.5F, .relative = 0.05F}), "");
  }
}

TEST(Abort, all_outputs_are_nan_whatever_of_them_was_written) {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {130, 136}), w = b.input("w", DType::bf16, {136, 136});
  b.output(b.relu(x));  // written long before
  b.output(b.relu(b.matmul(b.relu(b.matmul(x, w)), w)));
  const ir::Graph graph = b.build();
  for (program::QueueMode queue : {program::QueueMode::per_sm, program::QueueMode::global}) {
    RunSetup setup = unfused();
    setup.schedule.config.queue = queue;
    GraphRun run(graph, setup);
    std::uint64_t seed = 0;
    for (const Instruction& instruction : run.program().instructions) {
      if (instruction.wait_count == 0) continue;
      Spoilt spoilt(run, instruction.number, 0);
      run.workspace().reset();
      emulator::RunOptions options = bounded(++seed);
      options.check = seed % 4 == 0;
      const RunResult result = run.launch(seed, options);
      EXPECT_TRUE(result.report.ok()) << result.report.text();
      const program::Control& control = run.workspace().control();
      EXPECT_EQ(control.left, run.program().config.sms);
      EXPECT_EQ(control.record.filler[0], 1U);
      for (const std::vector<float>& output : result.outputs)
        EXPECT_TRUE(std::ranges::all_of(output, [](float value) { return std::isnan(value); }))
            << "instruction " << instruction.number << " seed " << seed;
    }
    EXPECT_GT(seed, 4U);
    run.workspace().reset();
    EXPECT_EQ(problem_of(run.launch(), {.absolute = 0.5F, .relative = 0.05F}), "");
    EXPECT_EQ(run.workspace().control().record.filler[0], 0U);
  }
}

TEST(Abort, outputs_are_filled_behind_ctas_that_still_work) {
  ir::Builder b;
  b.output(b.relu(b.relu(b.input("x", DType::bf16, {5, 33}))));
  for (int i = 0; i < 8; ++i) b.output(b.relu(b.input(fmt::format("y{}", i), DType::bf16, {64, 1032})));
  GraphRun run(b.build(), unfused());
  constexpr std::uint64_t kLimit = 10'000, kClocksAStep = 20;
  EXPECT_GT(run.launch(1, {}).report.steps * kClocksAStep, 2 * kLimit);
  const Spoilt spoilt(run, first_that_waits(run.program()).number, 0);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    run.workspace().reset();
    emulator::RunOptions options = bounded(seed);
    options.spin = true;
    options.wait_limit = kLimit;
    options.check = false;  // who gives up while others work works on with what is not there
    const RunResult result = run.launch(seed, options);
    EXPECT_TRUE(result.report.ok()) << result.report.text();
    EXPECT_EQ(result.report.expired_waits, 0U);
    for (const std::vector<float>& output : result.outputs)
      EXPECT_TRUE(std::ranges::all_of(output, [](float value) { return std::isnan(value); })) << "seed " << seed;
  }
}

TEST(Abort, a_launch_on_a_workspace_that_another_has_not_left_gives_up_and_computes_nothing) {
  for (program::QueueMode queue : {program::QueueMode::per_sm, program::QueueMode::global}) {
    RunSetup setup = unfused();
    setup.schedule.config.queue = queue;
    GraphRun run(two_nodes(), setup);
    program::Control& control = run.workspace().control();
    run.workspace().begin_at(1);
    control.left = 3;
    const RunResult result = run.launch(1, bounded(1));
    EXPECT_TRUE(result.report.ok()) << result.report.text();
    for (const float value : result.outputs[0]) EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(control.abort, 1U);
    const program::AbortRecord& record = run.workspace().abort_record();
    EXPECT_EQ(record.claimed, 1U);
    EXPECT_EQ(record.kind, static_cast<std::uint32_t>(program::WaitKind::busy));
    EXPECT_EQ(record.role, static_cast<std::uint32_t>(program::Role::controller));
    EXPECT_EQ(record.instruction, 0xffffffffU);
    EXPECT_THAT(emulator::describe(record, run.program()),
                AllOf(HasSubstr("controller"),
                      HasSubstr("found the workspace in use: of the launches before 3 CTAs had left, not 4")));
    run.workspace().reset();
    EXPECT_EQ(problem_of(run.launch(), {}), "");
    EXPECT_EQ(control.left, 4U);
    EXPECT_EQ(problem_of(run.launch(), {}), "");
  }
}

TEST(Abort, launches_that_overlap_are_found_by_the_ctas_whose_tickets_are_the_next_launchs) {
  GraphRun run(everything(), unfused());
  // Half of another launch's CTAs have entered, its first one among them.
  const auto enter = [&] {
    run.workspace().control().ticket = program::kTickets + 1 - run.program().config.sms + 1;
    run.workspace().control().launches = 1;
  };
  enter();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const RunResult result = run.launch(1, bounded(seed));
    EXPECT_TRUE(result.report.ok()) << result.report.text();
    EXPECT_EQ(run.workspace().abort_record().kind, static_cast<std::uint32_t>(program::WaitKind::busy));
    run.workspace().reset();
    enter();
  }
}

TEST(Abort, launches_are_right_when_their_number_and_every_count_of_them_wraps) {
  for (program::QueueMode queue : {program::QueueMode::per_sm, program::QueueMode::global}) {
    for (const std::uint32_t sms : {3U, 4U}) {
      RunSetup setup = unfused();
      setup.schedule.config.sms = sms;
      setup.schedule.config.queue = queue;
      GraphRun run(everything(), setup);
      // Around the first wrap of the tickets, of the CTAs that left, and of the number itself.
      for (const std::uint32_t first : {(1U << 16) - 2, 0xffffffffU / sms - 1, 0xfffffffeU}) {
        run.workspace().begin_at(first);
        for (std::uint32_t launch = 0; launch < 4; ++launch)
          EXPECT_EQ(problem_of(run.launch(launch + 1, {}), {.absolute = 0.5F, .relative = 0.05F}), "")
              << "launch " << first << " + " << launch;
        EXPECT_EQ(run.workspace().control().launches, first + 4);
        EXPECT_EQ(run.workspace().control().left, (first + 4) * sms);
      }
    }
  }
}

TEST(Abort, barrier_compared_with_equal) {
  // A counter that has gone past its target still passes.
  GraphRun run(two_nodes(), unfused());
  Instruction& waiting = run.spoil().instructions[first_that_waits(run.program()).number];
  Instruction& raising = run.spoil().instructions[0];
  ASSERT_LT(raising.arrival_count, program::kMaxArrivals);
  raising.arrivals[raising.arrival_count++] = waiting.waits[0].counter;
  const RunResult result = run.launch(1, {});
  EXPECT_EQ(result.report.deadlock, "");
}

}  // namespace
}  // namespace megakittens::test
