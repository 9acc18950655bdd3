#include <gtest/gtest.h>

#include "frontend/from_fx.hpp"
#include "support/mutate.hpp"

namespace megakittens::frontend {

TEST(FromFxFuzz, damaged_fx_graphs_are_refused_or_give_a_valid_graph) {
  constexpr std::string_view kText = R"({"megakittens_fx": 1, "name": "f", "nodes": [
{"op": "placeholder", "name": "x", "target": "x", "meta": {"dtype": "f32", "shape": [4, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "call_function", "name": "s", "target": "aten.slice.Tensor", "args": [{"node": "x"}, 0, 1, 3], "meta": {"dtype": "f32", "shape": [2, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "call_function", "name": "t", "target": "aten.diagonal.default", "args": [{"node": "s"}, 1, 0, 1], "meta": {"dtype": "f32", "shape": [2], "strides": [7], "device": "cpu"}},
{"op": "call_function", "name": "m", "target": "aten.mul.Tensor", "args": [{"node": "s"}, 2.5], "meta": {"dtype": "f32", "shape": [2, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "call_function", "name": "u", "target": "aten.slice_scatter.default", "args": [{"node": "x"}, {"node": "m"}, 0, 1, 3], "meta": {"dtype": "f32", "shape": [4, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "call_function", "name": "v", "target": "aten.view.default", "args": [{"node": "u"}, [24]], "meta": {"dtype": "f32", "shape": [24], "strides": [1], "device": "cpu"}},
{"op": "call_function", "name": "p", "target": "aten.mm.default", "args": [{"node": "u"}, {"node": "x"}], "meta": {"dtype": "f32", "shape": [4, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "call_function", "name": "c", "target": "aten.split.Tensor", "args": [{"node": "v"}, 12], "meta": [{"dtype": "f32", "shape": [12], "strides": [1], "device": "cpu"}, {"dtype": "f32", "shape": [12], "strides": [1], "device": "cpu"}]},
{"op": "call_function", "name": "g", "target": "operator.getitem", "args": [{"node": "c"}, 1], "meta": {"dtype": "f32", "shape": [12], "strides": [1], "device": "cpu"}},
{"op": "call_function", "name": "w", "target": "aten.copy_.default", "args": [{"node": "x"}, {"node": "u"}], "meta": {"dtype": "f32", "shape": [4, 6], "strides": [6, 1], "device": "cpu"}},
{"op": "output", "name": "output", "target": "output", "args": [[{"node": "g"}, {"node": "p"}, {"node": "t"}]]}]})";
  test::fuzz(kText, [](const std::string& text) { to_string(from_fx(fx::from_json(text)).graph); });
}

}  // namespace megakittens::frontend
