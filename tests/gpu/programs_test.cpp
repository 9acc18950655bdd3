// Programs on a Hopper GPU against the reference: what the emulator runs, on the machine it stands for.
#include <gtest/gtest.h>

#include <cstdlib>

#include "ir/builder.hpp"
#include "support/device_run.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;

class Gpu : public testing::Test {
 protected:
  void SetUp() override {
    std::string problem = gpu_problem();
    if (problem.empty()) return;
    if (std::getenv("MEGAKITTENS_REQUIRE_GPU") != nullptr) FAIL() << problem;
    GTEST_SKIP() << problem;
  }
};

schedule::ScheduleOptions options(program::QueueMode queue = program::QueueMode::per_sm, std::uint32_t cluster = 1) {
  schedule::ScheduleOptions result;
  result.config.queue = queue;
  result.config.cluster = cluster;
  return result;
}

Handle select(const Handle& x, std::int64_t i) {
  return {x.value, x.view.select(0, i)};
}

ir::Graph mlp(std::int64_t rows, std::int64_t width, std::int64_t layers, DType dtype = DType::bf16) {
  Builder b("mlp");
  Handle x = b.input("x", dtype, {rows, width});
  Handle weights = b.input("W", dtype, {layers, width, width});
  Handle bias = b.input("b", dtype, {layers, rows, width});
  for (std::int64_t i = 0; i < layers; ++i) x = b.relu(b.add(b.matmul(x, select(weights, i)), select(bias, i)));
  b.output(x);
  return b.build();
}

void expect_right(const ir::Graph& graph, const schedule::ScheduleOptions& how = options(), bool fusion = true) {
  passes::Options passes;
  passes.fusion = fusion;
  DeviceRun run(graph, how, passes);
  for (int launch = 0; launch < 3; ++launch) {
    run.restore_inputs();
    run.run();
    EXPECT_EQ(run.problem(), "") << "launch " << launch;
  }
}

TEST_F(Gpu, the_mlp_is_right_fused_and_unfused_in_both_queue_modes_and_cluster_sizes) {
  for (bool fusion : {true, false})
    for (auto queue : {program::QueueMode::per_sm, program::QueueMode::global})
      for (std::uint32_t cluster : {1u, 2u}) expect_right(mlp(512, 512, 3), options(queue, cluster), fusion);
}

TEST_F(Gpu, whole_numbers_give_the_emulators_bits) {
  // Tiles of 128 x 256, 64 x 128 and 64 x 64, and the general ones, with edges and without.
  for (auto [rows, width] : {std::pair{512, 512}, {1024, 1024}, {200, 264}, {129, 101}})
    for (auto queue : {program::QueueMode::per_sm, program::QueueMode::global})
      for (std::uint32_t cluster : {1u, 2u}) {
        schedule::ScheduleOptions how = options(queue, cluster);
        if (rows == 512) how.config.sms = 4;  // few SMs take the largest tiles
        DeviceRun run(mlp(rows, width, 2), how);
        run.take_integers();
        run.run();
        EXPECT_EQ(run.difference_from_emulator(), "") << rows << " x " << width << ", cluster " << cluster;
      }
}

TEST_F(Gpu, odd_sizes_and_types_are_right) {
  for (DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (auto [rows, width] : {std::pair{1, 8}, {33, 72}, {200, 264}, {100, 101}, {129, 1001}})
      expect_right(mlp(rows, width, 2, dtype));
}

TEST_F(Gpu, products_in_all_transposes_and_with_broadcast_batches_are_right) {
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      Builder b;
      Handle a = b.input("a", DType::bf16, left ? ir::Extents{3, 96, 80} : ir::Extents{3, 80, 96});
      Handle w = b.input("w", DType::bf16, right ? ir::Extents{136, 96} : ir::Extents{96, 136});
      if (left) a.view = a.view.transpose(1, 2);
      if (right) w.view = w.view.transpose(0, 1);
      b.output(b.matmul(a, w));
      expect_right(b.build());
    }
}

TEST_F(Gpu, elementwise_chains_with_broadcasting_slices_and_casts_are_right) {
  Builder b;
  Handle x = b.input("x", DType::bf16, {300, 520});
  Handle row = b.input("row", DType::f32, {520});
  Handle column = b.input("column", DType::bf16, {300, 1});
  Handle mask = b.input("mask", DType::boolean, {300, 520});
  Handle y = b.mul(b.pointwise(ir::PointwiseOp::silu, {x}), column);
  y = b.pointwise(ir::PointwiseOp::where, {mask, y, b.add(x, row)});
  b.output(y);
  b.output(b.cast({x.value, x.view.slice(0, 1, 299, 3).slice(1, 5, 500, 2)}, DType::f32));
  b.output(b.pointwise(ir::PointwiseOp::gelu_erf, {{x.value, x.view.transpose(0, 1)}}));
  b.output(b.pointwise(ir::PointwiseOp::gt, x, 0.25));
  for (bool fusion : {false, true}) expect_right(b.graph(), options(), fusion);
}

TEST_F(Gpu, writes_in_place_are_right) {
  Builder b;
  Handle x = b.input("x", DType::bf16, {256, 384});
  Handle y = b.input("y", DType::bf16, {64, 384});
  Handle target{x.value, x.view.slice(0, 32, 96)};
  Handle after = b.assign(target, b.mul(y, y));
  b.output(b.relu(after));
  expect_right(b.build());
}

TEST_F(Gpu, what_lies_beside_a_written_slice_stays) {
  for (const DType dtype : {DType::bf16, DType::f32}) expect_right(written_slice(dtype));
}

TEST_F(Gpu, two_programs_on_two_streams_stay_apart) {
  DeviceRun first(mlp(256, 256, 2), options());
  DeviceRun second(mlp(200, 264, 3), options());
  for (int i = 0; i < 500; ++i) {
    first.launch();
    second.launch();
  }
  first.synchronize();
  second.synchronize();
  EXPECT_EQ(first.problem(), "");
  EXPECT_EQ(second.problem(), "");
}

TEST_F(Gpu, a_wait_that_cannot_end_is_an_error_and_the_next_call_is_right) {
  ir::Graph graph = mlp(256, 256, 2);
  DeviceRun good(graph, options());
  DeviceRun bad(graph, options());
  const std::size_t waiting = spoil_a_wait(bad.program);
  bad.rebind();
  try {
    bad.run();
    FAIL() << "the wait ended";
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.what()).find(fmt::format("instruction {}", waiting)), std::string::npos)
        << error.what();
  }
  EXPECT_THROW(bad.run(), ExecutionError);
  good.run();
  EXPECT_EQ(good.problem(), "");
}

}  // namespace
}  // namespace megakittens::test
