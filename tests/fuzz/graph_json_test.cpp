#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "support/mutate.hpp"

namespace megakittens::ir {

TEST(GraphFuzz, damaged_graph_files_are_refused_or_valid) {
  Builder builder("fuzz");
  Handle x = builder.input("x", Tensor{DType::f16, {8, 6}, {1, 8}, {DeviceKind::cuda}});
  Handle chain = builder.pointwise(PointwiseOp::pow, builder.relu(x), 0.5);
  builder.assign({x.value, x.view.slice(0, 0, 4, 2)}, {chain.value, chain.view.slice(0, 0, 2)});
  builder.at("product", "a.py:3 in f");
  builder.output(builder.matmul({chain.value, chain.view.transpose(0, 1)}, chain));
  Graph graph = builder.build();
  test::fuzz(to_json(graph), [](const std::string& text) { to_string(from_json(text)); });
}

}  // namespace megakittens::ir
