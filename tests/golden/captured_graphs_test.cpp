#include <gmock/gmock.h>

#include <filesystem>

#include "ir/graph.hpp"
#include "support/files.hpp"

namespace megakittens::ir {
namespace {

std::string path_of(const std::string& name) {
  return std::string(MK_SOURCE_DIR) + "/tests/golden/" + name;
}

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes) ops.emplace_back(op_of(node));
  return ops;
}

}  // namespace

TEST(CapturedGraphs, every_file_loads_and_writes_itself) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(""))) {
    if (!entry.path().string().ends_with(".mkg.json")) continue;
    Graph graph = load(entry.path());
    EXPECT_EQ(from_json(to_json(graph)), graph) << entry.path();
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST(CapturedGraphs, the_mlp_has_three_layers_and_its_inputs_in_pytorchs_order) {
  for (std::int64_t size : {1024, 4096}) {
    Graph graph = load(path_of(fmt::format("mlp_{}.mkg.json", size)));
    EXPECT_THAT(ops_of(graph),
                testing::ElementsAre("matmul", "add", "relu", "matmul", "add", "relu", "matmul", "add", "relu"));
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "W");
    EXPECT_EQ(graph.value(graph.inputs[1]).name, "x");
    EXPECT_EQ(graph.value(graph.inputs[2]).name, "b");
    EXPECT_EQ(graph.nodes[3].operands[1].view.offset, size * size);
  }
}

TEST(CapturedGraphs, a_linear_layer_carries_its_bias_in_the_products_body) {
  Graph graph = load(path_of("linear_gelu.mkg.json"));
  ASSERT_THAT(ops_of(graph), testing::ElementsAre("matmul", "gelu_tanh"));
  EXPECT_EQ(to_string(*graph.nodes[0].body), "s0 = add(acc, %2); -> s0");
}

TEST(CapturedGraphs, an_update_of_a_cache_is_one_write_in_place) {
  Graph graph = load(path_of("cache_update.mkg.json"));
  ASSERT_THAT(ops_of(graph), testing::ElementsAre("copy", "pointwise", "matmul"));
  EXPECT_EQ(graph.root(graph.nodes[0].outputs[0]), graph.inputs[0]);
  EXPECT_EQ(graph.root(graph.nodes[1].outputs[0]), graph.inputs[2]);
}

}  // namespace megakittens::ir
