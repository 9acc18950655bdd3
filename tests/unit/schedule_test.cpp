#include "schedule/schedule.hpp"
#include "ops/elementwise/arguments.hpp"
#include "ops/gemm/space.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "support/error.hpp"
#include "support/fake_type.hpp"
#include "support/graphs.hpp"
#include "support/tiled_products.hpp"

namespace megakittens::schedule {
namespace {

using ir::DType;
using ir::Handle;
using ops::gemm::tile_at;
using ops::gemm::TileOrder;
using program::kGuardWrite;
using program::Program;
using test::FakeType;
using test::waited_for;
using testing::ElementsAre;
using testing::IsEmpty;

program::Config small(std::uint32_t sms, std::uint32_t cluster = 1) {
  return {.sms = sms, .cluster = cluster};
}

/// Schedules with the fake type and expects that the verifier has nothing to say.
Program scheduled(const FakeType& type, const ir::Graph& graph, const program::Config& config) {
  Program program = schedule(graph, type.options(config));
  EXPECT_EQ(test::to_string(verify(program, type.verify_options())), "");
  return program;
}

Program scheduled(const ir::Graph& graph, const program::Config& config) {
  Program program = schedule(graph, {.config = config, .name = {}, .resolve = {}});
  EXPECT_EQ(test::to_string(verify(program)), "");
  return program;
}

Handle named_relu(ir::Builder& builder, const char* name, const Handle& x) {
  builder.at(name, "");
  return builder.relu(x);
}

/// x -> a -> b -> c -> d, each [256, 64].
ir::Graph chain(int nodes) {
  ir::Builder builder("chain");
  Handle x = builder.input("x", DType::bf16, {256, 64});
  for (int i = 0; i < nodes; ++i) x = named_relu(builder, fmt::format("r{}", i).c_str(), x);
  builder.output(x);
  return builder.build();
}

}  // namespace

TEST(TileOrder, visits_every_tile_once) {
  for (const auto order : {TileOrder::columns, TileOrder::rows})
    for (const auto& [rows, columns] : {std::pair{1, 1}, {4, 8}, {8, 16}, {5, 3}, {7, 19}, {37, 9}, {40, 33}}) {
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      for (std::int64_t j = 0; j < rows * columns; ++j) seen.insert(tile_at(order, j, rows, columns));
      EXPECT_EQ(seen.size(), static_cast<std::size_t>(rows * columns)) << rows << " x " << columns;
      EXPECT_EQ(*seen.begin(), std::pair(0L, 0L)) << rows << " x " << columns;
      EXPECT_EQ(*seen.rbegin(), std::pair(rows - 1L, columns - 1L)) << rows << " x " << columns;
    }
}

TEST(TileOrder, brings_sixteen_neighbours_together_on_four_rows_and_four_columns) {
  for (std::int64_t j = 0; j < 16; ++j) {
    const auto [row, column] = tile_at(TileOrder::rows, j, 8, 16);
    EXPECT_EQ(row, j % 4);
    EXPECT_EQ(column, j / 4);
  }
}

// What reads the result by rows can begin with the first rows long before the last tile is done.
TEST(TileOrder, by_rows_completes_rows_early) {
  for (const auto& [rows, columns] : {std::pair{8, 24}, {12, 12}, {24, 12}, {16, 32}, {64, 9}}) {
    std::vector<std::int64_t> left(static_cast<std::size_t>(rows), columns);
    std::int64_t first_done = 0;
    for (std::int64_t j = 0; j < rows * columns && first_done == 0; ++j)
      if (--left[static_cast<std::size_t>(tile_at(TileOrder::rows, j, rows, columns).first)] == 0) first_done = j + 1;
    EXPECT_LE(first_done, 8 * columns) << rows << " x " << columns;
    EXPECT_LT(first_done, rows * columns * 3 / 4) << rows << " x " << columns;
  }
}

TEST(Schedule, dependency_cells_ignore_where_boxes_start) {
  ir::Builder builder("slice");
  const Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle a = named_relu(builder, "a", x);
  builder.output(named_relu(builder, "b", {a.value, a.view.slice(0, 2, 130)}));
  FakeType type;
  type.tiles["b"] = {.rows = 4, .columns = 64};
  const Program program = scheduled(type, builder.build(), small(8));
  ASSERT_EQ(program.nodes[1].count, 32u);
  const std::uint32_t first = program.nodes[1].first;
  for (std::uint32_t i = 0; i < 31; ++i) EXPECT_THAT(waited_for(program, first + i, 1), ElementsAre(0));
  EXPECT_THAT(waited_for(program, first + 31, 1), ElementsAre(0, 1)) << "rows 126 to 130 lie in both tiles";
}

TEST(Schedule, full_shape_checked_instead_of_the_sliced_one) {
  ir::Builder builder("sliced product");
  const Handle x = builder.input("x", DType::bf16, {1024, 1024});
  const Handle w = builder.input("w", DType::bf16, {640, 512});
  const Handle a = builder.relu(x);
  builder.output(builder.matmul({a.value, a.view.slice(0, 128, 640).slice(1, 256, 896)}, w));
  const Program program = scheduled(builder.build(), small(16, 2));
  const program::NodeInfo& product = program.nodes[1];
  EXPECT_EQ(program.records[1].extents[2], 512);
  for (std::uint32_t i = product.first; i < product.first + product.count; ++i) {
    const std::int32_t row = program.instructions[i].index[2];
    for (std::uint32_t producer : waited_for(program, i, 1)) {
      const std::int32_t* stretch = program.instructions[producer].index;
      const std::int32_t begin = stretch[ops::elementwise::kBeginLow],
                         end = begin + stretch[ops::elementwise::kElements];
      EXPECT_LT(begin, (128 + row + 127) * 1024 + 896) << "the producer's elements";
      EXPECT_GT(end, (128 + row) * 1024 + 256);
    }
  }
}

TEST(Schedule, capacity_exceeded_silently) {
  // Twelve operands from twelve nodes, and one node that twelve tile sizes cut into sets of their own.
  ir::Builder builder("wide");
  const Handle x = builder.input("x", DType::bf16, {240, 64});
  FakeType type;
  type.common = {.rows = 240, .columns = 64};
  std::vector<Handle> parts;
  ir::PointwiseBody sum{.steps = {{.op = ir::PointwiseOp::identity, .args = {ir::Ref::operand(0)}}}, .results = {11}};
  for (int i = 0; i < 12; ++i) {
    parts.push_back(named_relu(builder, fmt::format("part{}", i).c_str(), x));
    if (i > 0)
      sum.steps.push_back(
          {.op = ir::PointwiseOp::add, .args = {ir::Ref::step(i - 1), ir::Ref::operand(i)}, .dtype = DType::f32});
  }
  builder.at("sum", "");
  const Handle total = builder.pointwise_body(sum, parts, DType::bf16);
  type.tiles["sum"] = {.rows = 8, .columns = 64};
  for (int i = 0; i < 12; ++i) {
    const std::string name = fmt::format("reader{}", i);
    type.tiles[name] = {.rows = 11 + i, .columns = 64};
    builder.output(named_relu(builder, name.c_str(), total));
  }
  for (std::uint32_t cluster : {1u, 2u}) {
    const Program program = scheduled(type, builder.build(), small(64, cluster));
    const std::uint32_t first = program.nodes[12].first;
    for (std::uint32_t i = first; i < first + program.nodes[12].count; ++i)
      EXPECT_EQ(waited_for(program, i, 0xff).size(), 12u) << "all twelve, some through a noop";
    bool spread = false;
    for (const program::Instruction& instruction : program.instructions)
      spread = spread || (instruction.icode == 0 && instruction.arrival_count > 1);
    EXPECT_TRUE(spread) << "some tile of the sum raises more counters than it holds";
  }
}

TEST(Schedule, more_than_256_tensors_and_outputs_are_kept_apart) {
  ir::Builder builder("many");
  Handle x = builder.input("x", DType::bf16, {128, 64});
  for (int i = 0; i < 300; ++i) {
    x = builder.relu(x);
    builder.output(x);
  }
  const Program program = scheduled(builder.build(), small(4));
  EXPECT_EQ(program.storages.size(), 301u);
  for (const program::Port& output : program.outputs)
    EXPECT_EQ(program.storages[output.storage].kind, program::StorageKind::output);
}

TEST(Schedule, waiting_by_position_in_the_barrier_list) {
  // Every wait belongs to an operand or to the write, wherever it stands among the waits.
  ir::Builder builder("two operands");
  const Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle a = named_relu(builder, "a", x);
  const Handle b = named_relu(builder, "b", a);
  const Handle c = named_relu(builder, "c", b);
  builder.at("d", "");
  builder.output(builder.add(c, b));
  const Program program = scheduled(FakeType{}, builder.build(), small(2));
  const std::uint32_t a0 = program.nodes[0].first, b0 = program.nodes[1].first, c0 = program.nodes[2].first,
                      d0 = program.nodes[3].first;
  EXPECT_EQ(program.records[3].operands[2].storage, program.records[0].operands[1].storage) << "d takes a's storage";
  EXPECT_THAT(waited_for(program, d0, program::guard_bit(0)), ElementsAre(c0));
  EXPECT_THAT(waited_for(program, d0, program::guard_bit(1)), ElementsAre(b0));
  EXPECT_THAT(waited_for(program, d0, kGuardWrite), ElementsAre(b0, b0 + 1)) << "the readers of a";
  EXPECT_THAT(waited_for(program, c0, kGuardWrite), IsEmpty());
  EXPECT_THAT(waited_for(program, b0 + 1, 0xff), ElementsAre(a0 + 1));
}

TEST(Schedule, reuse_wait_forgotten) {
  const Program program = scheduled(FakeType{}, chain(8), small(2));
  std::size_t reusing = 0;
  for (std::size_t n = 3; n < 8; ++n) {
    const std::uint32_t storage = program.records[n].operands[1].storage;
    for (std::size_t before = n - 1; before-- > 0;) {
      if (program.records[before].operands[1].storage != storage) continue;
      ++reusing;
      const program::NodeInfo& reader = program.nodes[before + 1];
      for (std::uint32_t i = program.nodes[n].first; i < program.nodes[n].first + program.nodes[n].count; ++i)
        for (std::uint32_t r = reader.first; r < reader.first + reader.count; ++r)
          EXPECT_THAT(waited_for(program, i, kGuardWrite), testing::Contains(r)) << "node " << n;
      break;
    }
  }
  EXPECT_GE(reusing, 3u);
}

TEST(Schedule, reuse_waits_for_tiles_of_the_producer_that_nobody_read) {
  ir::Builder builder("half read");
  const Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle a = named_relu(builder, "a", x);
  const Handle b = named_relu(builder, "b", {a.value, a.view.slice(0, 0, 128)});
  builder.output(b);
  builder.output(named_relu(builder, "c", x));
  builder.at("d", "");
  const Handle d = builder.add(x, x);
  builder.output(builder.relu(d));
  const Program program = scheduled(FakeType{}, builder.build(), small(1));
  ASSERT_EQ(program.records[3].operands[2].storage, program.records[0].operands[1].storage) << "d takes a's storage";
  const std::uint32_t a1 = program.nodes[0].first + 1;
  EXPECT_THAT(waited_for(program, program.nodes[3].first, kGuardWrite), ElementsAre(a1, program.nodes[1].first));
}

TEST(Schedule, an_in_place_write_waits_for_readers_and_writers_of_the_same_elements_only) {
  ir::Builder builder("in place");
  const Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle y = builder.input("y", DType::bf16, {128, 64});
  const Handle a = named_relu(builder, "a", x);
  const Handle b = named_relu(builder, "b", a);
  builder.at("write", "");
  const Handle after = builder.assign({a.value, a.view.slice(0, 64, 192)}, y);
  builder.output(named_relu(builder, "c", after));
  builder.output(b);
  FakeType type;
  type.common = {.rows = 64, .columns = 64};
  const Program program = scheduled(type, builder.build(), small(4));
  const std::uint32_t a0 = program.nodes[0].first, b0 = program.nodes[1].first, w0 = program.nodes[2].first,
                      c0 = program.nodes[3].first;
  EXPECT_EQ(program.records[2].operands[1].storage, program.records[0].operands[1].storage);
  EXPECT_THAT(waited_for(program, w0, kGuardWrite), ElementsAre(a0 + 1, b0 + 1));
  EXPECT_THAT(waited_for(program, w0 + 1, kGuardWrite), ElementsAre(a0 + 2, b0 + 2));
  EXPECT_THAT(waited_for(program, c0, 1), ElementsAre(a0));
  EXPECT_THAT(waited_for(program, c0 + 1, 1), ElementsAre(w0)) << "what was overwritten comes from the write alone";
  EXPECT_THAT(waited_for(program, c0 + 3, 1), ElementsAre(a0 + 3));
}

TEST(Schedule, a_mutated_input_keeps_its_storage_and_is_marked) {
  ir::Builder builder("cache");
  const Handle cache = builder.input("cache", DType::bf16, {256, 64});
  const Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle before = named_relu(builder, "before", cache);
  builder.at("write", "");
  builder.output(builder.assign(cache, x));
  builder.output(before);
  const Program program = scheduled(FakeType{}, builder.build(), small(4));
  EXPECT_TRUE(program.storages[0].mutated);
  EXPECT_FALSE(program.storages[1].mutated);
  EXPECT_EQ(program.outputs[0].storage, 0u);
  EXPECT_THAT(waited_for(program, program.nodes[1].first, kGuardWrite), ElementsAre(program.nodes[0].first));
}

TEST(Schedule, a_long_chain_of_updates_waits_for_the_last_one_only) {
  ir::Builder builder("updates");
  Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle y = builder.input("y", DType::bf16, {256, 64});
  for (int i = 0; i < 20; ++i) x = builder.assign(x, y);
  builder.output(x);
  const Program program = scheduled(FakeType{}, builder.build(), small(4));
  for (const program::Instruction& instruction : program.instructions) EXPECT_LE(instruction.wait_count, 1);
}

TEST(Schedule, a_returned_value_may_take_freed_storage_but_never_gives_its_own_back) {
  ir::Builder builder("returned");
  Handle x = builder.input("x", DType::bf16, {256, 64});
  std::vector<Handle> values;
  for (int i = 0; i < 12; ++i) values.push_back(x = builder.relu(x));
  builder.output(values[5]);
  builder.output(values[11]);
  const Program program = scheduled(FakeType{}, builder.build(), small(2));
  const std::uint32_t storage = program.outputs[0].storage;
  EXPECT_EQ(program.storages[storage].kind, program::StorageKind::output);
  EXPECT_NE(storage, program.outputs[1].storage);
  for (std::size_t n = 6; n < 12; ++n) EXPECT_NE(program.records[n].operands[1].storage, storage);
  EXPECT_LT(program.storages.size(), 13u) << "others were used again";
}

TEST(Schedule, ranges_start_at_multiples_of_the_cluster) {
  ir::Builder builder("odd");
  Handle x = builder.input("x", DType::bf16, {384, 64});
  for (int i = 0; i < 3; ++i) x = builder.relu(x);
  builder.output(x);
  const Program program = scheduled(FakeType{}, builder.build(), small(4, 2));
  EXPECT_EQ(program.instructions.size(), 12u);
  for (const program::NodeInfo& node : program.nodes) EXPECT_EQ(node.first % 2, 0u);
  EXPECT_EQ(program.instructions[3].icode, 0);
  EXPECT_EQ(program.waves(), 3u);
  EXPECT_EQ(program.empty_slots(), 0u);
}

TEST(Schedule, a_node_cut_in_two_ways_has_two_records_and_is_waited_for_as_one) {
  ir::Builder builder("two");
  const Handle a = builder.input("a", DType::bf16, {520, 392}), b = builder.input("b", DType::bf16, {392, 136});
  builder.at("product", "model.py:1");
  const Handle y = builder.matmul(a, b);
  builder.at("sum", "model.py:2");
  builder.output(builder.mul(y, Handle{y.value, y.view.slice(0, 519, 520)}));
  const Program program = scheduled(builder.build(), small(2, 2));
  ASSERT_EQ(program.nodes.size(), 3u);
  ASSERT_EQ(program.records.size(), 3u);
  const program::NodeInfo &upper = program.nodes[0], &lower = program.nodes[1];
  EXPECT_EQ(upper.name, "product");
  EXPECT_EQ(lower.name, "product.rest");
  EXPECT_EQ(lower.source, "model.py:1");
  EXPECT_EQ(test::tiles_of(program), (std::set<std::string>{"gemm", "gemm_divided"}));
  EXPECT_EQ(lower.first, upper.first + upper.count);
  EXPECT_EQ(upper.operations + lower.operations, 2LL * 520 * 392 * 136);
  for (std::size_t n = 0; n < 3; ++n)
    for (std::uint32_t i = 0; i < program.nodes[n].count; ++i) {
      const program::Instruction& instruction = program.instructions[program.nodes[n].first + i];
      EXPECT_EQ(program.records[instruction.node].number, n);
      EXPECT_EQ(instruction.icode, program.nodes[n].icode);
    }
  // The last row is the lower tiles', and all of the sum reads it: a tile of the first rows waits for both.
  const program::Instruction& first = program.instructions[program.nodes[2].first];
  std::set<std::uint32_t> waits;
  for (std::uint32_t of : waited_for(program, first.number, 0xff))
    waits.insert(program.records[program.instructions[of].node].number);
  EXPECT_EQ(waits, (std::set<std::uint32_t>{0, 1}));
}

TEST(Schedule, both_queue_modes_give_the_same_dependencies) {
  program::Config config = small(6, 2);
  const Program lists = scheduled(test::mlp(512, 512, 2), config);
  config.queue = program::QueueMode::global;
  Program queue = scheduled(test::mlp(512, 512, 2), config);
  EXPECT_EQ(queue.empty_slots(), 0u);
  queue.config.queue = program::QueueMode::per_sm;
  EXPECT_TRUE(program::equal(lists, queue));
}

TEST(Schedule, values_without_elements_need_no_instructions) {
  ir::Builder builder("empty");
  const Handle x = builder.input("x", DType::bf16, {0, 64});
  builder.output(builder.relu(builder.relu(x)));
  const Program program = scheduled(FakeType{}, builder.build(), small(1));
  EXPECT_TRUE(program.instructions.empty());
  EXPECT_EQ(program.waves(), 0u);
  EXPECT_EQ(program.outputs[0].sizes, (std::vector<std::int64_t>{0, 64}));
}

TEST(Schedule, a_graph_may_return_its_inputs) {
  ir::Builder builder("same");
  const Handle x = builder.input("x", DType::f32, {4, 4});
  builder.output({x.value, x.view.transpose(0, 1)});
  const Program program = scheduled(builder.build(), small(2));
  EXPECT_EQ(program.outputs[0].storage, 0u);
  EXPECT_EQ(program.outputs[0].strides, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(program.storages[0].kind, program::StorageKind::input);
}

TEST(Schedule, impossible_configurations_are_named) {
  auto error = [](const program::Config& config) -> std::string {
    try {
      schedule(chain(1), {.config = config, .name = {}, .resolve = {}});
    } catch (const OptionError& caught) {
      return caught.what();
    }
    return "";
  };
  EXPECT_EQ(error({.cluster = 3}), "cluster size 3 is not possible; 1 and 2 are");
  EXPECT_EQ(error({.sms = 7, .cluster = 2}), "7 SMs do not divide into clusters of 2");
}

TEST(Schedule, storages_lie_on_the_device_of_the_tensors) {
  ir::Builder builder("placed");
  ir::Tensor tensor = ir::Tensor::dense(DType::bf16, {16, 64});
  tensor.device = {ir::DeviceKind::cuda, 1};
  builder.output(builder.neg(builder.relu(builder.input("x", tensor))));
  const Program program = scheduled(builder.build(), small(2));
  for (const program::Storage& storage : program.storages) EXPECT_EQ(storage.device, 1) << storage.name;
}

TEST(Schedule, a_number_from_the_cpu_is_computed_where_the_tensors_are) {
  ir::Builder builder("number");
  ir::Tensor tensor = ir::Tensor::dense(DType::f32, {16, 64});
  tensor.device = {ir::DeviceKind::cuda, 0};
  const Handle x = builder.input("x", tensor);
  builder.output(builder.add(
      x, builder.pointwise_body({.steps = {{ir::PointwiseOp::identity, {ir::Ref::constant(2)}}}, .results = {0}}, {},
                                DType::f32)));
  ir::Graph graph = builder.build();
  graph.values[1].tensor.device = {ir::DeviceKind::cpu, 0};
  scheduled(graph, small(2));
}

TEST(Schedule, tensors_on_two_devices_are_refused_by_their_names) {
  for (const ir::Device other : {ir::Device{ir::DeviceKind::cuda, 1}, ir::Device{ir::DeviceKind::cpu, 0}}) {
    ir::Builder builder("apart");
    ir::Tensor left = ir::Tensor::dense(DType::bf16, {16, 64}), right = left;
    left.device = {ir::DeviceKind::cuda, 0};
    right.device = other;
    const Handle anywhere = builder.input("anywhere", DType::bf16, {16, 64}), here = builder.input("here", left);
    builder.output(builder.add(builder.add(anywhere, here), builder.input("there", right)));
    EXPECT_THAT([&] { schedule(builder.build(), {.config = small(2), .name = {}, .resolve = {}}); },
                testing::ThrowsMessage<UnsupportedError>(testing::HasSubstr(fmt::format(
                    "'here' is on cuda and 'there' on {}; a program runs on one device", to_string(other)))));
  }
}

TEST(Schedule, an_operation_without_type_is_named_with_its_source) {
  ir::Builder builder("opaque");
  const Handle x = builder.input("x", DType::bf16, {4, 4});
  builder.at("fft", "model.py:7 in forward");
  builder.output(builder.call("aten.fft_fft", {x}, ir::Tensor::dense(DType::bf16, {4, 4})));
  try {
    schedule(builder.build(), {.config = small(2), .name = {}, .resolve = {}});
    FAIL() << "no error was thrown";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("fft"), testing::HasSubstr("model.py:7")));
  }
}

}  // namespace megakittens::schedule
