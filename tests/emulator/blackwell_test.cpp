// Whole programs on Blackwell's interpreter: values as the reference's, and a silent checker, under many schedules.
#include <array>

#include "ir/builder.hpp"
#include "ops/icodes.hpp"
#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"
#include "support/graphs.hpp"
#include "support/programs.hpp"

namespace megakittens::emulator {
namespace {

using ir::DType;
using program::QueueMode;

schedule::ScheduleOptions options_for(std::uint32_t sms, QueueMode queue) {
  schedule::ScheduleOptions options;
  options.config.architecture = program::Architecture::sm_100a;
  options.config.sms = sms;
  options.config.queue = queue;
  return options;
}

constexpr float kTolerance16 = 1.0f / 64;  // two units in the last place of bf16 at the largest value
constexpr float kTolerance32 = 1e-5f;

void expect_right(const ir::Graph& graph, const schedule::ScheduleOptions& options, std::uint64_t seeds,
                  float tolerance = kTolerance16) {
  const ir::Graph fused = passes::run_pipeline(graph, {});
  const test::ProgramCase the_case(graph, schedule::schedule(fused, options), 0.25f);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    RunOptions run;
    run.seed = seed;
    the_case.expect_right(run, tolerance);
    if (testing::Test::HasFailure()) return;
  }
}

// y = relu(x W + b), W stored as [k, n], or as [n, k] and used transposed; the epilogue does bias and relu.
ir::Graph product(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k, bool transposed) {
  ir::Builder builder("product");
  const ir::Handle x = builder.input("x", dtype, {m, k});
  ir::Handle w = builder.input("w", dtype, transposed ? ir::Extents{n, k} : ir::Extents{k, n});
  if (transposed) w.view = w.view.transpose(0, 1);
  const ir::Handle b = builder.input("b", dtype, {n});
  builder.output(builder.relu(builder.add(builder.matmul(x, w), b)));
  return builder.build();
}

std::uint16_t icode_of(const ir::Graph& graph) {
  return schedule::schedule(graph, options_for(4, QueueMode::per_sm)).nodes[0].icode;
}

TEST(Blackwell, runs_an_mlp_under_every_seed_with_lists_for_each_sm) {
  expect_right(test::mlp(300, 264, 3), options_for(4, QueueMode::per_sm), 6);
}

TEST(Blackwell, runs_an_mlp_under_every_seed_with_one_queue) {
  expect_right(test::mlp(300, 264, 3), options_for(4, QueueMode::global), 6);
}

TEST(Blackwell, several_tiles_follow_each_other_through_the_same_tensor_memory) {
  expect_right(test::mlp(520, 520, 2), options_for(2, QueueMode::per_sm), 2);
  expect_right(test::mlp(520, 520, 2), options_for(2, QueueMode::global), 2);
}

TEST(Blackwell, multiplies_odd_shapes_of_both_types_and_layouts) {
  for (DType dtype : {DType::bf16, DType::f16})
    for (bool transposed : {false, true})
      for (const auto& [m, n, k] : {std::array{1, 8, 8}, {257, 264, 72}, {100, 40, 200}, {300, 520, 64}}) {
        SCOPED_TRACE(fmt::format("{} {} x {} x {}, {}", ir::name_of(dtype), m, n, k, transposed ? "[n, k]" : "[k, n]"));
        expect_right(product(dtype, m, n, k, transposed), options_for(4, QueueMode::per_sm), 2);
      }
}

TEST(Blackwell, every_layout_and_type_has_its_main_loop) {
  EXPECT_EQ(icode_of(product(DType::bf16, 256, 256, 64, false)), ops::kIcode_gemm_blackwell_bf16_nmajor);
  EXPECT_EQ(icode_of(product(DType::bf16, 256, 256, 64, true)), ops::kIcode_gemm_blackwell_bf16_kmajor);
  EXPECT_EQ(icode_of(product(DType::f16, 256, 256, 64, false)), ops::kIcode_gemm_blackwell_f16_nmajor);
  EXPECT_EQ(icode_of(product(DType::f16, 256, 256, 64, true)), ops::kIcode_gemm_blackwell_f16_kmajor);
  EXPECT_EQ(icode_of(product(DType::bf16, 77, 33, 33, false)), ops::kIcode_gemm_general_bf16);
  EXPECT_EQ(icode_of(product(DType::f32, 64, 64, 64, false)), ops::kIcode_gemm_general_f32);
}

TEST(Blackwell, multiplies_what_bulk_copies_cannot_bring) {
  for (DType dtype : {DType::bf16, DType::f16}) {
    SCOPED_TRACE(ir::name_of(dtype));
    expect_right(product(dtype, 77, 131, 33, false), options_for(2, QueueMode::per_sm), 2);
  }
}

TEST(Blackwell, multiplies_fp32_exactly) {
  expect_right(product(DType::f32, 150, 300, 100, false), options_for(2, QueueMode::per_sm), 2, kTolerance32);
}

TEST(Blackwell, halves_of_a_paired_tile_are_done_by_both_ctas) {
  schedule::ScheduleOptions options = options_for(4, QueueMode::per_sm);
  options.tiling = ops::Tiling::seed;
  expect_right(test::mlp(600, 264, 2), options, 3);
}

// Two tiles on one CTA; the rule that a fault in warp `warp` breaks is reported under every seed.
void expect_found(FaultPoint point, int warp, Rule rule) {
  const ir::Graph graph = product(DType::bf16, 256, 1024, 128, false);
  const test::ProgramCase the_case(graph, schedule::schedule(graph, options_for(2, QueueMode::per_sm)), 0.25f);
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    RunOptions run;
    run.seed = seed;
    run.arithmetic = false;
    run.faults = {PlantedFault{.point = point, .warp = warp}};
    const Report report = the_case.launch(run);
    EXPECT_TRUE(report.has(rule)) << text_of(rule).name << " is missing under seed " << seed << " from\n"
                                  << report.text();
  }
}

TEST(Blackwell, a_missing_fence_after_the_full_accumulator_is_found) {
  expect_found(FaultPoint::kTcgenFenceAfter, 3, Rule::kTensorNotCommitted);
}

TEST(Blackwell, a_missing_fence_on_either_side_of_the_free_accumulator_is_found) {
  expect_found(FaultPoint::kTcgenFenceBefore, 3, Rule::kTensorReused);
  expect_found(FaultPoint::kTcgenFenceAfter, 12, Rule::kTensorReused);
}

// wait::ld dropped: a warp gives tensor memory back while its loads are still under way.
TEST(Blackwell, accumulator_token_released_too_early) {
  expect_found(FaultPoint::kTcgenWait, 3, Rule::kTensorReused);
}

TEST(Blackwell, a_wait_that_expires_ends_the_launch_with_a_record) {
  const ir::Graph graph = test::mlp(300, 264, 2);
  const program::Program program = schedule::schedule(graph, options_for(4, QueueMode::per_sm));
  std::vector<std::vector<std::byte>> memory;
  std::vector<void*> storages;
  for (const program::Storage& storage : program.storages)
    storages.push_back(memory.emplace_back(storage.bytes).data());
  Workspace workspace(program);
  RunOptions run;
  run.wait_limit = 20;  // nobody's input can be there by then
  run.expire_waits = true;
  run.check = false;
  const Report report = workspace.launch(storages, run);
  EXPECT_EQ(report.deadlock, "");
  EXPECT_EQ(workspace.abort_record().claimed, 1u);
  EXPECT_THAT(describe(workspace.abort_record(), program),
              testing::AllOf(testing::HasSubstr("waited too long for"), testing::HasSubstr("of node '")));
}

TEST(Blackwell, launches_follow_each_other_on_one_workspace) {
  const ir::Graph graph = test::mlp(64, 64, 2);
  const program::Program program = schedule::schedule(graph, options_for(2, QueueMode::global));
  Workspace workspace(program);
  std::vector<std::vector<std::byte>> memory;
  std::vector<void*> storages;
  for (const program::Storage& storage : program.storages)
    storages.push_back(memory.emplace_back(storage.bytes).data());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RunOptions run;
    run.seed = seed;
    const Report report = workspace.launch(storages, run);
    ASSERT_TRUE(report.ok()) << report.text();
  }
}

}  // namespace
}  // namespace megakittens::emulator
