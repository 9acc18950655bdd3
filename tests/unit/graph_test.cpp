#include "ir/graph.hpp"

#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Graph small_mlp() {
  Builder builder("mlp");
  Handle weights = builder.input("W", DType::bf16, {3, 64, 64});
  Handle x = builder.input("x", DType::bf16, {32, 64});
  Handle bias = builder.input("b", DType::bf16, {3, 64});
  for (int layer = 0; layer < 3; ++layer) {
    builder.at(fmt::format("mm{}", layer), "model.py:12 in forward");
    Handle product = builder.matmul(x, {weights.value, weights.view.select(0, layer)});
    x = builder.relu(builder.add(product, {bias.value, bias.view.select(0, layer)}));
  }
  builder.output(x);
  return builder.build();
}

std::string fault_of(const Graph& graph) {
  try {
    verify(graph);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Graph, a_built_graph_passes_every_rule) {
  EXPECT_EQ(fault_of(small_mlp()), "");
}

TEST(Graph, the_table_shows_views_as_python_writes_them) {
  std::string text = to_string(small_mlp());
  EXPECT_THAT(text, AllOf(HasSubstr("graph mlp: 3 inputs, 9 nodes, 1 output"), HasSubstr("matmul(x, W[0])"),
                          HasSubstr("model.py:12 in forward"), HasSubstr("return relu_8")));
}

TEST(Graph, a_transposed_slice_prints_as_one) {
  Builder builder;
  Handle x = builder.input("x", DType::f32, {8, 6});
  builder.output({x.value, x.view.slice(0, 2, 8, 2).transpose(0, 1)});
  EXPECT_THAT(to_string(builder.build()), HasSubstr("return x[2:7:2].T"));
}

TEST(Graph, describe_names_node_operation_and_source) {
  Graph graph = small_mlp();
  EXPECT_EQ(graph.describe(graph.nodes[0]), "node 'mm0' (matmul) at model.py:12 in forward");
}

TEST(Graph, root_follows_versions_to_the_input) {
  Builder builder;
  Handle cache = builder.input("cache", DType::f32, {4, 8});
  Handle row = builder.input("row", DType::f32, {8});
  Handle once = builder.assign({cache.value, cache.view.select(0, 1)}, row);
  Handle twice = builder.assign({once.value, once.view.select(0, 2)}, row);
  builder.output(twice);
  Graph graph = builder.build();
  EXPECT_EQ(graph.root(twice.value), cache.value);
}

TEST(Graph, reading_an_overwritten_version_is_refused) {
  Builder builder;
  Handle cache = builder.input("cache", DType::f32, {4, 8});
  Handle row = builder.input("row", DType::f32, {8});
  builder.assign({cache.value, cache.view.select(0, 1)}, row);
  builder.output(builder.relu(cache));
  EXPECT_THAT(fault_of(builder.graph()), AllOf(HasSubstr("old_versions_are_not_read"), HasSubstr("'cache'")));
}

TEST(Graph, overwriting_what_the_same_node_reads_elsewhere_is_refused) {
  Builder builder;
  Handle x = builder.input("x", DType::f32, {8});
  builder.assign({x.value, x.view.slice(0, 1, 8)}, {x.value, x.view.slice(0, 0, 7)});
  EXPECT_THAT(fault_of(builder.graph()), HasSubstr("old_versions_are_not_read"));
}

TEST(Graph, a_view_past_the_end_of_its_storage_is_refused) {
  Graph graph = small_mlp();
  graph.nodes[0].operands[1].view.offset = 3 * 64 * 64;
  EXPECT_THAT(fault_of(graph), AllOf(HasSubstr("views_fit"), HasSubstr("model.py:12")));
}

TEST(Graph, nodes_out_of_order_are_refused) {
  Graph graph = small_mlp();
  graph.nodes[0].operands[0] = {graph.nodes[2].outputs[0], graph.nodes[0].operands[0].view};
  EXPECT_THAT(fault_of(graph), HasSubstr("operands_come_first"));
}

TEST(Graph, shapes_of_a_product_are_checked) {
  Graph graph = small_mlp();
  graph.nodes[0].operands[1].view.sizes = {32, 64};
  EXPECT_THAT(fault_of(graph), AllOf(HasSubstr("products_fit"), HasSubstr("[32, 64] times [32, 64]")));
}

TEST(Graph, a_body_may_not_read_a_later_step) {
  Builder builder;
  Handle x = builder.input("x", DType::f32, {8});
  builder.pointwise_body({.steps = {{PointwiseOp::relu, {Ref::step(0)}, DType::f32}}, .results = {0}}, {x}, DType::f32);
  EXPECT_THAT(fault_of(builder.graph()), AllOf(HasSubstr("bodies_are_straight"), HasSubstr("step 0")));
}

TEST(Graph, an_unknown_family_is_refused) {
  Graph graph = small_mlp();
  graph.nodes[1].family = static_cast<Family>(99);
  EXPECT_THAT(fault_of(graph), HasSubstr("unknown family 99"));
}

TEST(Graph, the_builder_names_both_shapes_of_a_bad_product) {
  Builder builder;
  Handle a = builder.input("a", DType::f32, {4, 8});
  try {
    builder.matmul(a, a);
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[4, 8] times [4, 8]"));
  }
}

}  // namespace megakittens::ir
