// What is refused, or waited for longer, because of its size alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ops/instruction_type.hpp"
#include "schedule/schedule.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

/// Why no type takes the graph's node; empty where one does.
std::string refusal(ir::Builder& b) {
  const ir::Graph graph = b.build();
  try {
    type_for(graph, graph.nodes[0], {});
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return {};
}

TEST(StrideLimit, columns_that_lie_too_far_apart_are_refused_and_not_cut_to_32_bits) {
  // Only the strides matter: nothing is allocated.
  ir::Builder b;
  ir::Tensor far{.dtype = ir::DType::f32, .shape = {64, 4}, .strides = {1, std::int64_t{1} << 30}, .device = {}};
  b.output(b.relu(b.input("far", far)));
  EXPECT_THAT(refusal(b), testing::HasSubstr("4294967296 bytes apart"));
}

TEST(SizeLimit, dimensions_whose_columns_32_bits_do_not_count_with_room_to_spare_are_refused) {
  for (const std::int64_t size : {program::kMaxExtent, program::kMaxExtent + 1}) {
    ir::Builder row, depth;
    row.output(row.relu(row.input("x", ir::DType::bf16, {size})));
    depth.output(
        depth.matmul(depth.input("a", ir::DType::f32, {1, size}), depth.input("b", ir::DType::f32, {size, 1})));
    for (ir::Builder* b : {&row, &depth}) {
      const std::string why = refusal(*b);
      if (size > program::kMaxExtent)
        EXPECT_THAT(why, testing::HasSubstr("over the limit of 2147475456"));
      else
        EXPECT_EQ(why, "");
    }
  }
}

TEST(Duration, the_longest_product_sets_what_a_wait_may_take) {
  auto clocks = [](ir::DType dtype, std::int64_t depth) {
    ir::Builder b;
    b.output(b.matmul(b.input("a", dtype, {1, depth}), b.input("b", dtype, {depth, 1})));
    schedule::ScheduleOptions options;
    options.config.sms = 2;
    options.config.cluster = 1;
    return ops::most_clocks(schedule::schedule(b.build(), options));
  };
  // One tile: an SM's share is half of it, and two of the longest more.
  EXPECT_EQ(clocks(ir::DType::f32, 1 << 24), (std::uint64_t{1} << 34) * 5 / 2);
  EXPECT_LT(clocks(ir::DType::f32, 1 << 10), 4'000'000U);
  EXPECT_GT(clocks(ir::DType::bf16, 1 << 28), std::uint64_t{1} << 32);
}

}  // namespace
}  // namespace megakittens::ops
