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

TEST(GraphFuzz, damaged_symbolic_graph_files_are_refused_or_round_trip) {
  const char* symbolic = R"({"megakittens_graph": 2, "name": "fuzz", "symbols": {"s0": 6, "s1": 4},
 "values": [{"name":"x","dtype":"f32","shape":["s0",3,"2*s1 - 2"]},
            {"name":"y","dtype":"f32","shape":["3*s0","2*s1 - 2"],"strides":["2*s1", 1]},
            {"name":"mm","dtype":"f32","shape":["s0","3*s0"]},
            {"name":"new","dtype":"f32","shape":["s0",3,"2*s1 - 2"],"mutates":[0,"6*s1 - 6",["s0 - 1",1],["6*s1 - 6",1]]}],
 "inputs": [0,1],
 "nodes": [{"op":"matmul","name":"mm","operands":[[0,0,["s0","2*s1 - 2"],["6*s1 - 6",1]],[1,0,["2*s1 - 2","3*s0"],[1,"2*s1"]]],"outputs":[2]},
           {"op":"copy","name":"new","operands":[[2,0,["s0 - 1",1],["3*s0",1]]],"outputs":[3]}],
 "outputs": [[3],[2,0,["3*s0*s0"],[1]]]})";
  bind_symbols(from_json(symbolic), {{"s0", 5}, {"s1", 7}});
  test::fuzz(symbolic, [](const std::string& text) {
    const Graph graph = from_json(text);
    to_string(graph);
    EXPECT_EQ(from_json(to_json(graph)), graph) << text;
    SymbolValues values = graph.symbols;
    for (auto& [name, value] : values) value += 3;
    bind_symbols(graph, values);
  });
}

}  // namespace megakittens::ir
