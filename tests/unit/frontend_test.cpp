#include <gmock/gmock.h>

#include "frontend/from_fx.hpp"
#include "ir/reference.hpp"
#include "support/error.hpp"

namespace megakittens::frontend {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kVector = R"({"dtype": "f32", "shape": [4], "strides": [1], "device": "cpu"})";

std::string module_of(const std::string& calls, const std::string& output, const std::string& meta = kVector) {
  return R"({"megakittens_fx": 1, "name": "f", "nodes": [
    {"op": "placeholder", "name": "x", "target": "x", "meta": )" +
         meta + "},\n" + calls + R"(,
    {"op": "output", "name": "output", "target": "output", "args": [)" +
         output + "]}]}";
}

/// A call on one argument list, with a vector as its result.
std::string call(const std::string& op, const std::string& name, const std::string& target, const std::string& args) {
  return fmt::format(R"({{"op": "{}", "name": "{}", "target": "{}", "args": [{}], "meta": {},
    "source": "a.py:7 in f"}})",
                     op, name, target, args, kVector);
}

ir::Graph graph_of(const std::string& text) {
  return from_fx(fx::from_json(text)).graph;
}

std::string message_of(const std::string& text) {
  try {
    graph_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::string> ops_of(const ir::Graph& graph) {
  std::vector<std::string> ops;
  for (const ir::Node& node : graph.nodes) ops.emplace_back(ir::op_of(node));
  return ops;
}

constexpr const char* kX = R"({"node": "x"})";

}  // namespace

TEST(FromFx, functions_methods_and_modules_find_the_same_resolver) {
  std::string calls = call("call_function", "a", "torch.relu", kX) + "," +
                      call("call_method", "b", "sigmoid", R"({"node": "a"})") + "," +
                      call("call_module", "c", "torch.nn.modules.activation.SiLU", R"({"node": "b"})") + "," +
                      call("call_function", "d", "_operator.add", R"({"node": "c"}, 2)");
  EXPECT_THAT(ops_of(graph_of(module_of(calls, R"([{"node": "d"}])"))),
              ElementsAre("relu", "sigmoid", "silu", "pointwise"));
}

TEST(FromFx, what_no_result_needs_is_dropped) {
  std::string calls =
      call("call_function", "a", "aten.relu.default", kX) + "," + call("call_function", "b", "aten.exp.default", kX);
  EXPECT_THAT(ops_of(graph_of(module_of(calls, R"([{"node": "b"}])"))), ElementsAre("exp"));
}

TEST(FromFx, a_call_that_nobody_knows_is_opaque_and_keeps_its_line) {
  ir::Graph graph = graph_of(module_of(call("call_function", "a", "vendor.magic.default", kX), R"([{"node": "a"}])"));
  EXPECT_EQ(graph.describe(graph.nodes[0]), "node 'a' (vendor.magic.default) at a.py:7 in f");
}

TEST(FromFx, malformed_arguments_make_a_call_opaque_with_the_reason) {
  for (const char* args : {R"({"node": "x"}, "dim")", R"({"node": "x"}, 7, 0)", R"({"node": "x"}, 0, 99)", "3, 0, 1"}) {
    ir::Graph graph = graph_of(module_of(call("call_function", "a", "aten.select.int", args), R"([{"node": "a"}])"));
    ASSERT_THAT(ops_of(graph), ElementsAre("call")) << args;
    EXPECT_NE(ir::call_of(graph.nodes[0])->why, "");
  }
}

TEST(FromFx, a_result_that_is_not_kept_is_an_error_when_used) {
  std::string norm = fmt::format(
      R"({{"op": "call_function", "name": "n", "target": "aten.native_layer_norm.default", "args": [{}],
          "meta": [{}, {}, {}], "source": "a.py:7 in f"}},)",
      kX, kVector, kVector, kVector);
  std::string first = norm + call("call_function", "g", "operator.getitem", R"({"node": "n"}, 0)");
  EXPECT_THAT(ops_of(graph_of(module_of(first, R"([{"node": "g"}])"))), ElementsAre("call"));
  std::string second = norm + call("call_function", "g", "operator.getitem", R"({"node": "n"}, 1)");
  EXPECT_THAT(message_of(module_of(second, R"([{"node": "g"}])")),
              HasSubstr("result 1 of aten.native_layer_norm.default at a.py:7 in f is used"));
}

TEST(FromFx, results_of_any_nesting_are_kept_in_the_layout) {
  const Captured captured = from_fx(fx::from_json(
      module_of(call("call_function", "a", "aten.relu.default", kX), R"({"dict": {"r": [{"node": "a"}, null, 3]}})")));
  EXPECT_THAT(captured.layout, HasSubstr(R"({".r":[{"output":0},null,3]})"));
}

TEST(FromFx, the_scalar_arguments_of_a_call_are_kept) {
  std::string calls = R"({"op": "call_function", "name": "a", "target": "aten.add.Tensor",
     "args": [{"node": "x"}, {"node": "x"}], "kwargs": {"alpha": 3}, "meta": )" +
                      std::string(kVector) + "}";
  ir::Graph graph = graph_of(module_of(calls, R"([{"node": "a"}])"));
  EXPECT_THAT(ir::evaluate(graph, {{1, 2, 3, 4}}).outputs[0], ElementsAre(4, 8, 12, 16));
}

TEST(FromFx, a_write_at_the_end_happens_where_the_value_is_computed) {
  std::string calls = call("call_function", "a", "aten.mul.Tensor", R"({"node": "x"}, 2)") + "," +
                      call("call_function", "w", "aten.copy_.default", R"({"node": "x"}, {"node": "a"})");
  ir::Graph graph = graph_of(module_of(calls, "[]"));
  EXPECT_THAT(ops_of(graph), ElementsAre("pointwise"));
  EXPECT_THAT(ir::evaluate(graph, {{1, 2, 3, 4}}).inputs[0], ElementsAre(2, 4, 6, 8));
}

TEST(FromFx, an_unsupported_dtype_is_named_with_its_tensor) {
  std::string meta = R"({"dtype": "float64", "shape": [4], "strides": [1], "device": "cpu"})";
  EXPECT_THAT(message_of(module_of(call("call_function", "a", "aten.relu.default", kX), R"([{"node": "a"}])", meta)),
              HasSubstr("input 'x' has dtype float64"));
}

TEST(FromFx, a_reference_to_a_later_node_is_refused) {
  EXPECT_THAT(message_of(module_of(call("call_function", "a", "aten.relu.default", R"({"node": "b"})"), "[]")),
              HasSubstr("no earlier node is named 'b'"));
}

}  // namespace megakittens::frontend
