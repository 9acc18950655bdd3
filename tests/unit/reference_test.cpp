#include "ir/reference.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "ir/builder.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

std::vector<float> counting(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

}  // namespace

TEST(Reference, a_product_equals_the_plain_sum) {
  const std::int64_t m = 7, n = 19, k = 301;
  std::vector<float> a(static_cast<std::size_t>(m * k));
  std::vector<float> b(static_cast<std::size_t>(k * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 13) - 6;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 11) - 5;
  std::vector<float> c(static_cast<std::size_t>(m * n));
  reference_product(a.data(), b.data(), c.data(), m, n, k);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t d = 0; d < k; ++d)
        sum += static_cast<double>(a[static_cast<std::size_t>(i * k + d)]) * b[static_cast<std::size_t>(d * n + j)];
      ASSERT_EQ(c[static_cast<std::size_t>(i * n + j)], static_cast<float>(sum)) << i << " " << j;
    }
}

TEST(Reference, a_product_of_transposed_batches_reads_through_its_views) {
  Builder builder;
  Handle a = builder.input("a", DType::f32, {2, 3, 2});
  Handle b = builder.input("b", DType::f32, {3, 1});
  builder.output(builder.matmul({a.value, a.view.transpose(1, 2)}, b));
  auto result = evaluate(builder.build(), {counting(12), {1, 10, 100}});
  EXPECT_THAT(result.outputs[0], testing::ElementsAre(420, 531, 1086, 1197));
}

TEST(Reference, eager_numerics_round_what_is_stored_and_exact_numerics_do_not) {
  Builder builder;
  Handle x = builder.input("x", DType::bf16, {1});
  builder.output(builder.pointwise(PointwiseOp::add, x, 0.001));
  Graph graph = builder.build();
  EXPECT_EQ(evaluate(graph, {{1}}).outputs[0][0], 1.0F);
  EXPECT_EQ(evaluate(graph, {{1}}, ReferenceNumerics::exact).outputs[0][0], 1.001F);
}

TEST(Reference, writing_in_place_changes_the_input_and_nothing_else) {
  Builder builder;
  Handle cache = builder.input("cache", DType::f32, {3, 2});
  Handle row = builder.input("row", DType::f32, {2});
  Handle fresh = builder.assign({cache.value, cache.view.select(0, 1)}, row);
  builder.output({fresh.value, fresh.view.slice(0, 1, 3)});
  auto result = evaluate(builder.build(), {counting(6), {7, 8}});
  EXPECT_THAT(result.inputs[0], testing::ElementsAre(0, 1, 7, 8, 4, 5));
  EXPECT_THAT(result.outputs[0], testing::ElementsAre(7, 8, 4, 5));
}

TEST(Reference, where_takes_a_bool_input_and_integers_convert) {
  Builder builder;
  Handle mask = builder.input("mask", DType::boolean, {4});
  Handle a = builder.input("a", DType::i64, {4});
  Handle b = builder.input("b", DType::f32, {});
  builder.output(builder.pointwise(PointwiseOp::where, {mask, builder.cast(a, DType::f32), b}));
  auto result = evaluate(builder.build(), {{1, 0, 1, 0}, {5, 6, 7, 8}, {0.5}});
  EXPECT_THAT(result.outputs[0], testing::ElementsAre(5, 0.5, 7, 0.5));
}

TEST(Reference, an_epilogue_reads_the_accumulator_unrounded) {
  Builder builder;
  Handle a = builder.input("a", DType::bf16, {1, 2});
  Handle b = builder.input("b", DType::bf16, {2, 1});
  builder.output(builder.matmul(a, b));
  Graph graph = builder.build();
  graph.nodes[0].body = PointwiseBody{
      .steps = {{PointwiseOp::sub, {Ref::accumulator(), Ref::constant(256)}, DType::f32}}, .results = {0}};
  EXPECT_EQ(evaluate(graph, {{256, 1}, {1, 1}}).outputs[0][0], 1.0F);
}

TEST(Reference, zero_sizes_give_empty_results_and_empty_sums) {
  Builder builder;
  Handle a = builder.input("a", DType::f32, {2, 0});
  Handle b = builder.input("b", DType::f32, {0, 3});
  builder.output(builder.relu(a));
  builder.output(builder.matmul(a, b));
  auto result = evaluate(builder.build(), {{}, {}});
  EXPECT_TRUE(result.outputs[0].empty());
  EXPECT_THAT(result.outputs[1], testing::Each(0.0F));
  EXPECT_EQ(result.outputs[1].size(), 6U);
}

TEST(Reference, an_opaque_node_is_refused_by_name_and_line) {
  Builder builder;
  Handle a = builder.input("a", DType::f32, {2});
  builder.at("sort", "a.py:4 in f");
  builder.output(builder.call("aten.sort.default", {a}, Tensor::dense(DType::f32, {2})));
  try {
    evaluate(builder.build(), {{1, 2}});
    FAIL() << "no error";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("aten.sort.default"), testing::HasSubstr("a.py:4")));
  }
}

}  // namespace megakittens::ir
