// How permutations are cut, and which nodes and records they take.
#include "ops/permute/permute.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

#include "ir/builder.hpp"
#include "ops/icodes.hpp"
#include "ops/permute/tile.hpp"
#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"

namespace megakittens::ops {
namespace {

using ir::DType;
using ir::Extents;
using ir::Handle;
using testing::HasSubstr;
using testing::Ne;
using Order = std::vector<std::int64_t>;

ir::Graph permuted(DType dtype, const Extents& shape, const Order& order) {
  ir::Builder b;
  const Handle x = b.input("x", dtype, shape);
  b.output(b.copy({x.value, x.view.permute(order)}));
  return b.build();
}

PlanOptions options(std::uint32_t sms) {
  PlanOptions options;
  options.config.sms = sms;
  return options;
}

std::unique_ptr<NodePlan> plan_of(const ir::Graph& graph, std::uint32_t sms = 132) {
  const Permute type;
  EXPECT_EQ(type.unsuited(graph, graph.nodes[0], options(sms)), std::nullopt);
  return type.plan(graph, graph.nodes[0], options(sms));
}

/// How often each element of operand k's storage lies in a region.
std::vector<int> touched(const NodePlan& plan, int k, std::int64_t elements) {
  const Permute type;
  std::vector<int> times(static_cast<std::size_t>(elements));
  for (std::int64_t i = 0; i < plan.count; ++i) {
    program::Instruction instruction{};
    const std::vector<std::int32_t> index = plan.instruction(i).index;
    std::copy(index.begin(), index.end(), instruction.index);
    const Region region = type.regions(plan.record, instruction)[k];
    EXPECT_EQ(region.write, k == 1);
    for (std::int64_t a = 0; a < region.sizes[0]; ++a)
      for (std::int64_t b = 0; b < region.sizes[1]; ++b)
        for (std::int64_t c = 0; c < region.sizes[2]; ++c)
          for (std::int64_t d = 0; d < region.sizes[3]; ++d)
            ++times.at(static_cast<std::size_t>(region.offset + a * region.strides[0] + b * region.strides[1] +
                                                c * region.strides[2] + d * region.strides[3]));
  }
  return times;
}

TEST(Permute, its_regions_cover_input_and_output_exactly_once) {
  const std::pair<Extents, Order> cases[] = {{{300, 500}, {1, 0}},           {{7, 33, 65}, {0, 2, 1}},
                                             {{5, 3, 40, 30}, {0, 2, 3, 1}}, {{5, 40, 30, 3}, {0, 3, 1, 2}},
                                             {{64, 32, 8}, {1, 0, 2}},       {{9, 8, 7, 6}, {3, 1, 0, 2}}};
  for (const auto& [shape, order] : cases) {
    for (const std::uint32_t sms : {1U, 4U, 132U}) {
      const auto plan = plan_of(permuted(DType::bf16, shape, order), sms);
      const std::int64_t elements = ir::element_count(shape);
      for (int k = 0; k < 2; ++k)
        EXPECT_THAT(touched(*plan, k, elements), testing::Each(1)) << ir::to_string(shape) << " " << sms;
    }
  }
}

TEST(Permute, large_tensors_move_in_long_runs_and_keep_all_sms_busy) {
  const permute::Copy copy{.sizes = {1, 1, 8192, 8192},
                           .input = {0, 0, 1, 8192},
                           .output = {0, 0, 8192, 1},
                           .input_bytes = 2,
                           .output_bytes = 2};
  const permute::Tile tile = *permute::choose_tile(copy, 132 * 8);
  EXPECT_EQ(tile.extents, (permute::Sizes{1, 1, 64, 64}));
  EXPECT_TRUE(tile.gather.wide);
  const auto plan = plan_of(permuted(DType::bf16, {8192, 8192}, {1, 0}));
  EXPECT_EQ(plan->count % 128, 0);
  EXPECT_GE(plan->count, 132 * 9 / 10);
}

TEST(Permute, small_tensors_spread_over_many_sms) {
  EXPECT_GE(plan_of(permuted(DType::bf16, {512, 512}, {1, 0}))->count, 100);
  EXPECT_GE(plan_of(permuted(DType::f32, {128, 128}, {1, 0}))->count, 32);
}

TEST(Permute, channels_and_heads_of_a_few_elements_move_in_whole_runs) {
  // [1, H, W, 3] to [1, 3, H, W]: the tile has all channels, and reads one run.
  const permute::Copy channels{.sizes = {1, 1, 3, 65536},
                               .input = {0, 0, 1, 3},
                               .output = {0, 0, 65536, 1},
                               .input_bytes = 2,
                               .output_bytes = 2};
  const permute::Tile tile = *permute::choose_tile(channels, 8);
  EXPECT_EQ(tile.extents[2], 3);
  EXPECT_EQ(tile.input.run, 2U);
  // [s, h, 8] to [h, s, 8]: eight elements move as one.
  const permute::Copy heads{.sizes = {1, 32, 2048, 8},
                            .input = {0, 8, 256, 1},
                            .output = {0, 16384, 8, 1},
                            .input_bytes = 2,
                            .output_bytes = 2};
  const permute::Tile of_heads = *permute::choose_tile(heads, 8);
  EXPECT_EQ(of_heads.extents[3], 8);
  EXPECT_EQ(of_heads.gather.unit, 4U);
  EXPECT_TRUE(of_heads.gather.wide);
}

TEST(Permute, takes_rows_in_the_same_order_that_are_not_whole_vectors) {
  const Permute type;
  auto takes = [&](DType dtype, const Extents& shape, std::int64_t start, std::int64_t end, std::int64_t step = 1) {
    ir::Builder b;
    const Handle x = b.input("x", dtype, shape);
    const int last = static_cast<int>(shape.size()) - 1;
    b.output(b.copy({x.value, x.view.slice(last, start, end, step)}));
    return !type.unsuited(b.graph(), b.graph().nodes[0], options(4)).has_value();
  };
  EXPECT_TRUE(takes(DType::bf16, {64, 1736}, 0, 1733));
  EXPECT_TRUE(takes(DType::bf16, {64, 1736}, 1, 1729));
  EXPECT_TRUE(takes(DType::f32, {64, 1736}, 1, 1729));
  EXPECT_TRUE(takes(DType::bf16, {4097}, 1, 4097));
  EXPECT_TRUE(takes(DType::bf16, {4096}, 0, 4096, 2));
  EXPECT_FALSE(takes(DType::bf16, {64, 1736}, 8, 1736));
  EXPECT_FALSE(takes(DType::f32, {64, 1736}, 4, 1732));
  EXPECT_FALSE(takes(DType::bf16, {4097}, 0, 4096));
}

TEST(Permute, odd_rows_move_in_runs_of_hundreds_of_elements) {
  const permute::Copy padding{.sizes = {1, 1, 4096, 1733},
                              .input = {0, 0, 1733, 1},
                              .output = {0, 0, 1736, 1},
                              .input_bytes = 2,
                              .output_bytes = 2};
  const permute::Tile tile = *permute::choose_tile(padding, 132 * 8);
  EXPECT_GE(tile.extents[3], 400);
  EXPECT_TRUE(tile.gather.contiguous());
}

TEST(Permute, of_other_nodes_says_why_not) {
  const Permute type;
  auto reason = [&](const ir::Graph& graph) { return type.unsuited(graph, graph.nodes[0], options(4)).value_or(""); };
  EXPECT_THAT(reason(permuted(DType::bf16, {4, 8, 256}, {1, 0, 2})), HasSubstr("rows of the same elements"));
  EXPECT_THAT(reason(permuted(DType::bf16, {64, 0}, {1, 0})), HasSubstr("no elements"));
  EXPECT_THAT(reason(permuted(DType::bf16, {64}, {0})), HasSubstr("same order"));
  EXPECT_THAT(reason(permuted(DType::bf16, {3, 4, 5, 6, 7}, {4, 3, 2, 1, 0})), HasSubstr("more than 4 dimensions"));
  ir::Builder b;
  const Handle x = b.input("x", DType::bf16, {8, 8});
  b.output(b.relu({x.value, x.view.transpose(0, 1)}));
  EXPECT_THAT(reason(b.build()), HasSubstr("'relu' is no copy and no cast"));
  ir::Builder integers;
  const Handle y = integers.input("y", DType::f32, {8, 8});
  integers.output(integers.cast({y.value, y.view.transpose(0, 1)}, DType::i64));
  EXPECT_THAT(reason(integers.graph()), HasSubstr("i64"));
}

TEST(Permute, records_and_instructions_that_do_not_fit_are_refused) {
  const Permute type;
  const program::Program fits = schedule::schedule(permuted(DType::bf16, {100, 72}, {1, 0}),
                                                   {.config = {.sms = 4, .cluster = 1}, .name = {}, .resolve = {}});
  const auto first = std::find_if(fits.instructions.begin(), fits.instructions.end(),
                                  [](const auto& instruction) { return instruction.icode == kIcode_permute; });
  ASSERT_NE(first, fits.instructions.end());
  const program::NodeRecord& record = fits.records[first->node];
  EXPECT_EQ(type.record_fault(fits, record, kIcode_permute), std::nullopt);
  EXPECT_EQ(type.instruction_fault(fits, record, *first), std::nullopt);
  for (const int word : {permute::kTileInner, permute::kStridesInner, permute::kInputSide, permute::kGather}) {
    program::NodeRecord changed = record;
    changed.parameters[word] ^= 0x10;
    EXPECT_NE(type.record_fault(fits, changed, kIcode_permute), std::nullopt) << word;
  }
  for (int word = 0; word < permute::kDerivedWords; ++word) {
    program::NodeRecord changed = record;
    changed.reserved[word] ^= 1;
    EXPECT_NE(type.record_fault(fits, changed, kIcode_permute), std::nullopt) << word;
  }
  for (int word = 0; word < permute::kIndexWords; ++word) {
    program::Instruction changed = *first;
    changed.index[word] += 4096;
    EXPECT_NE(type.instruction_fault(fits, record, changed), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace megakittens::ops
