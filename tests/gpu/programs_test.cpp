// Programs on a Hopper GPU against the reference: what the emulator runs, on the machine it stands for. Each
// program runs in both queue modes, with clusters of one CTA and of two.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gpu/fixture.hpp"
#include "ir/builder.hpp"
#include "support/environment.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"
#include "support/tiled_products.hpp"

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;

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

/// Gives the tiles of its products.
std::set<std::string> expect_the_emulators_bits(const ir::Graph& graph, const Configuration& configuration,
                                                const schedule::ScheduleOptions& how, bool padding = true) {
  DeviceRun run(graph, how, {.padding = padding});
  run.take_integers();
  run.run();
  EXPECT_EQ(run.difference_from_emulator(), "") << configuration.text();
  return tiles_of(run.program);
}

/// a @ w, each of them stored as it is and transposed: four products of whole numbers.
ir::Graph products_in_all_transposes(DType dtype) {
  Builder b;
  for (bool left : {false, true})
    for (bool right : {false, true}) {
      Handle a =
          b.input(fmt::format("a{}{}", left, right), dtype, left ? ir::Extents{3, 96, 80} : ir::Extents{3, 80, 96});
      Handle w = b.input(fmt::format("w{}{}", left, right), dtype, right ? ir::Extents{136, 96} : ir::Extents{96, 136});
      if (left) a.view = a.view.transpose(1, 2);
      if (right) w.view = w.view.transpose(0, 1);
      b.output(b.matmul(a, w));
    }
  return b.build();
}

/// A product whose sums bf16 and f16 have to round, in every type, then a part of an input written in place.
ir::Graph casts_and_a_write(DType dtype) {
  Builder b;
  const Handle x = b.input("x", dtype, {136, 200}), w = b.input("w", dtype, {200, 264});
  const Handle y = b.input("y", DType::f32, {136, 264});
  const Handle product = b.matmul(x, w);
  for (DType to : {DType::bf16, DType::f16, DType::f32}) b.output(b.cast(b.mul(product, product), to));
  const Handle sum = b.cast(b.add(b.cast(product, DType::f32), y), dtype);
  const Handle part{sum.value, sum.view.slice(0, 8, 72).slice(1, 0, 200)};
  b.output(b.relu(b.assign({x.value, x.view.slice(0, 32, 96)}, part)));
  return b.build();
}

TEST_F(Gpu, the_mlp_is_right_fused_and_unfused) {
  for (bool fusion : {true, false}) expect_right(mlp(512, 512, 3), {.fusion = fusion});
}

TEST_F(Gpu, whole_numbers_give_the_emulators_bits) {
  for (const Configuration& configuration : kConfigurations) {
    std::set<std::string> tiles;
    for (auto [rows, width, sms] :
         {std::tuple{512, 512, 4}, {512, 512, 16}, {1024, 1024, 132}, {200, 264, 132}, {129, 101, 132}}) {
      SCOPED_TRACE(fmt::format("{} x {} on {} SMs", rows, width, sms));
      schedule::ScheduleOptions how = configuration.options();
      how.config.sms = static_cast<std::uint32_t>(sms);
      // An odd width: through padded rows, and read as it lies.
      for (const bool padding : {true, false})
        if (padding || width % 8 != 0)
          tiles.merge(expect_the_emulators_bits(mlp(rows, width, 2), configuration, how, padding));
    }
    const std::set<std::string> all{"gemm", "gemm_medium", "gemm_divided", "gemm_narrow", "gemm_general"};
    EXPECT_EQ(tiles, all);
  }
}

TEST_F(Gpu, every_tile_and_two_of_them_in_one_product_give_the_emulators_bits) {
  for (const TiledProduct& product : tiled_products())
    for (DType dtype : {DType::bf16, DType::f16})
      for (const Turned turned : kTurns)
        for (const Configuration& configuration : kConfigurations) {
          SCOPED_TRACE(fmt::format("{} {} {}{}", product.text(), ir::name_of(dtype), turned.a, turned.b));
          schedule::ScheduleOptions how = configuration.options();
          how.config.sms = product.sms;
          how.tile = product.asked;
          const auto tiles = expect_the_emulators_bits(graph_of(product, dtype, turned), configuration, how);
          if (configuration.cluster == 2) {
            EXPECT_EQ(tiles, product.tiles);
          }
        }
}

TEST_F(Gpu, whole_numbers_of_every_type_give_the_emulators_bits_in_products_casts_and_writes) {
  for (DType dtype : {DType::bf16, DType::f16, DType::f32})
    for (const Configuration& configuration : kConfigurations) {
      SCOPED_TRACE(ir::name_of(dtype));
      expect_the_emulators_bits(mlp(136, 264, 2, dtype), configuration, configuration.options());
      expect_the_emulators_bits(mlp(33, 45, 2, dtype), configuration, configuration.options());
      expect_the_emulators_bits(products_in_all_transposes(dtype), configuration, configuration.options());
      expect_the_emulators_bits(casts_and_a_write(dtype), configuration, configuration.options());
    }
}

/// A test for each type and size: under racecheck some of them take minutes.
class GpuOddSizes : public Gpu, public testing::WithParamInterface<std::tuple<DType, std::pair<int, int>>> {};

std::string text_of(const testing::TestParamInfo<GpuOddSizes::ParamType>& info) {
  const auto [dtype, size] = info.param;
  return fmt::format("{}_{}_by_{}", ir::name_of(dtype), size.first, size.second);
}

TEST_P(GpuOddSizes, are_right) {
  const auto [dtype, size] = GetParam();
  expect_right(mlp(size.first, size.second, 2, dtype));
}

INSTANTIATE_TEST_SUITE_P(Mlp, GpuOddSizes,
                         testing::Combine(testing::Values(DType::bf16, DType::f16, DType::f32),
                                          testing::Values(std::pair{1, 8}, std::pair{33, 72}, std::pair{200, 264},
                                                          std::pair{100, 101}, std::pair{129, 1001})),
                         text_of);

TEST_F(Gpu, products_in_all_transposes_and_with_broadcast_batches_are_right) {
  expect_right(products_in_all_transposes(DType::bf16));
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
  for (bool fusion : {false, true}) expect_right(b.graph(), {.fusion = fusion});
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
  for (const Configuration& configuration : kConfigurations) {
    DeviceRun first(mlp(256, 256, 2), configuration.options());
    DeviceRun second(mlp(200, 264, 3), configuration.options());
    for (int i = 0; i < 200; ++i) {
      first.launch();
      second.launch();
    }
    first.synchronize();
    second.synchronize();
    EXPECT_EQ(first.problem(), "") << configuration.text();
    EXPECT_EQ(second.problem(), "") << configuration.text();
  }
}

TEST_F(Gpu, a_wait_that_cannot_end_is_an_error_each_time_and_harms_no_other_program) {
  const ir::Graph graph = mlp(256, 256, 2);
  for (const Configuration& configuration : kConfigurations) {
    SCOPED_TRACE(configuration.text());
    DeviceRun good(graph, configuration.options());
    DeviceRun bad(graph, configuration.options());
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
}

/// Two replays of one captured launch, at the same time: on 16 SMs there is room for both, and they share a workspace.
TEST_F(Gpu, replays_that_overlap_on_one_workspace_are_an_error_and_never_other_values) {
  for (const Configuration& configuration : kConfigurations) {
    SCOPED_TRACE(configuration.text());
    schedule::ScheduleOptions how = configuration.options();
    how.config.sms = 16;
    DeviceRun run(mlp(1024, 1024, 3), how);
    run.run();
    const std::vector<float> good = run.results().outputs.at(0);
    MK_CUDA(stream_begin_capture(run.stream.get(), 0));
    run.launch();
    const runtime::CapturedGraph graph(run.stream.get());
    runtime::CuGraphExec again = nullptr;
    MK_CUDA(graph_instantiate(&again, graph.get(), 0));
    const runtime::Stream other;
    run.clear_outputs(0);
    graph.replay(run.stream.get());
    MK_CUDA(graph_launch(again, other.get()));
    MK_CUDA(stream_synchronize(other.get()));
    EXPECT_THAT([&] { run.synchronize(); },
                testing::ThrowsMessage<ExecutionError>(testing::HasSubstr("found the workspace in use")));
    const std::vector<float> got = run.results().outputs.at(0);
    EXPECT_TRUE(std::ranges::equal(got, good, [](float a, float b) { return std::isnan(a) || a == b; }));
    runtime::driver().graph_exec_destroy(again);
    run.run();
    EXPECT_EQ(run.results().outputs.at(0), good);
  }
}

TEST_F(Gpu, a_blocking_call_tells_at_once) {
  const ScopedVariable blocking("MEGAKITTENS_BLOCKING", "1");
  DeviceRun run(mlp(256, 256, 2), {});
  spoil_a_wait(run.program);
  run.rebind();
  EXPECT_THAT([&] { run.launch(); }, testing::ThrowsMessage<ExecutionError>(testing::HasSubstr("waited too long")));
}

}  // namespace
}  // namespace megakittens::test
