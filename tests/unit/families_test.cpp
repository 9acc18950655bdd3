// The families that move and combine elements: rules, file form, text and reference.
#include <gmock/gmock.h>

#include <limits>

#include "ir/builder.hpp"
#include "ir/reference.hpp"
#include "runtime/prepare.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Values = std::vector<float>;

Values only_output(const Graph& graph, std::vector<Values> inputs) {
  return evaluate(graph, std::move(inputs)).outputs.at(0);
}

std::string fault_of(const Graph& graph) {
  try {
    verify(graph);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

/// One reduction of [2, 3].
Values reduced(Reduction kind, std::vector<int> dims, const Values& x, bool keep = false) {
  Builder b;
  b.output(b.reduce(kind, b.input("x", DType::f32, {2, 3}), std::move(dims), keep));
  return only_output(b.build(), {x});
}

/// A graph of every family that is not pointwise, a product or a copy.
Graph every_family() {
  Builder b("families");
  const Handle x = b.input("x", DType::f32, {4, 6}), index = b.input("index", DType::i64, {2, 6});
  b.output(b.reduce(Reduction::amax, x, {-1}, true));
  const Handle rows = b.gather(x, 0, index);
  b.output(b.scatter(ScatterKind::add, x, 0, index, rows));
  b.output(b.scan(ScanKind::sum, x, 1));
  b.output(b.call("vendor.magic.default", {x}, Tensor::dense(DType::f32, {4})));
  return b.build();
}

TEST(Families, reductions_run_over_any_dimensions) {
  const Values x{1, 5, 3, 4, 2, 6};
  EXPECT_THAT(reduced(Reduction::sum, {1}, x), ElementsAre(9, 12));
  EXPECT_THAT(reduced(Reduction::sum, {0}, x), ElementsAre(5, 7, 9));
  EXPECT_THAT(reduced(Reduction::mean, {}, x), ElementsAre(3.5F));
  EXPECT_THAT(reduced(Reduction::prod, {-1}, x, true), ElementsAre(15, 48));
  EXPECT_THAT(reduced(Reduction::amax, {0, 1}, x), ElementsAre(6));
  EXPECT_THAT(reduced(Reduction::amin, {1}, x), ElementsAre(1, 2));
  EXPECT_THAT(reduced(Reduction::argmax, {1}, x), ElementsAre(1, 2));
  EXPECT_THAT(reduced(Reduction::argmin, {0}, x), ElementsAre(0, 1, 0));
  EXPECT_THAT(reduced(Reduction::any, {1}, {0, 0, 0, 0, 2, 0}), ElementsAre(0, 1));
  EXPECT_THAT(reduced(Reduction::all, {1}, {1, 1, 1, 0, 2, 0}), ElementsAre(1, 0));
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(reduced(Reduction::argmax, {1}, {1, kNan, 9, kNan, kNan, 0}), ElementsAre(1, 0));
}

TEST(Families, gather_and_scatter_follow_their_indices) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {3, 2}), index = b.input("index", DType::i64, {2, 2});
  b.output(b.gather(x, 0, index));
  EXPECT_THAT(only_output(b.build(), {{0, 1, 10, 11, 20, 21}, {2, 0, 1, 1}}), ElementsAre(20, 1, 10, 11));
  EXPECT_THROW(only_output(b.build(), {{0, 1, 10, 11, 20, 21}, {3, 0, 1, 1}}), UserError);

  Builder s;
  const Handle base = s.input("base", DType::f32, {3, 2}), at = s.input("at", DType::i64, {2, 2});
  s.output(s.scatter(ScatterKind::add, base, 0, at, s.input("values", DType::f32, {2, 2})));
  EXPECT_THAT(only_output(s.build(), {{0, 0, 0, 0, 0, 0}, {2, 0, 2, 1}, {1, 2, 3, 4}}), ElementsAre(0, 2, 0, 4, 4, 0));
}

TEST(Families, scans_accumulate_along_a_dimension) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {2, 3});
  b.output(b.scan(ScanKind::sum, x, 1));
  b.output(b.scan(ScanKind::max, x, 0));
  const ReferenceResult result = evaluate(b.build(), {{1, 5, 3, 4, 2, 6}});
  EXPECT_THAT(result.outputs[0], ElementsAre(1, 6, 9, 4, 6, 12));
  EXPECT_THAT(result.outputs[1], ElementsAre(1, 5, 3, 4, 5, 6));
}

TEST(Families, a_body_follows_a_reduction) {
  Builder b;
  b.output(b.reduce(Reduction::sum, b.input("x", DType::f32, {2, 2}), {1}));
  Graph graph = b.build();
  graph.nodes[0].body = {.steps = {{PointwiseOp::mul, {Ref::accumulator(), Ref::constant(10)}}}, .results = {0}};
  verify(graph);
  EXPECT_THAT(only_output(graph, {{1, 2, 3, 4}}), ElementsAre(30, 70));
}

/// relu(magic(x) + y), the call having one operand of its own.
Graph call_with_body() {
  Builder b("epilogue");
  const Handle x = b.input("x", DType::f32, {3}), y = b.input("y", DType::f32, {2});
  b.output(b.call("vendor.magic.default", {x, y}, Tensor::dense(DType::f32, {2})));
  Graph graph = b.build();
  graph.nodes[0].body = {
      .steps = {{PointwiseOp::add, {Ref::accumulator(), Ref::operand(1)}}, {PointwiseOp::relu, {Ref::step(0)}}},
      .results = {1}};
  std::get<Call>(graph.nodes[0].details).own_operands = 1;
  verify(graph);
  return graph;
}

TEST(Families, a_body_follows_a_call) {
  const Graph graph = call_with_body();
  set_call_reference("vendor.magic.default", [](const Graph&, const Node&, const std::vector<Values>& operands) {
    EXPECT_EQ(operands.size(), 1u);
    return std::vector<Values>{{operands[0][0], operands[0][2]}};
  });
  EXPECT_THAT(only_output(graph, {{1, 2, -5}, {10, 1}}), ElementsAre(11, 0));
  set_call_reference("vendor.magic.default", {});
}

TEST(Families, a_call_with_a_body_keeps_its_operands_and_its_one_output) {
  Graph graph = call_with_body();
  auto call = [&]() -> Call& { return std::get<Call>(graph.nodes[0].details); };
  call().own_operands = 2;
  EXPECT_THAT(fault_of(graph), HasSubstr("reads operand 1; the body's begin at 2"));
  call().own_operands = 3;
  EXPECT_THAT(fault_of(graph), HasSubstr("3 operands of its own among 2"));
  call().own_operands = 0;
  EXPECT_THAT(fault_of(graph), HasSubstr("operand 0 has shape [3], the output [2]"));
  call().own_operands = 1;
  graph.nodes[0].body.reset();
  EXPECT_THAT(fault_of(graph), HasSubstr("counts 1 operands of its own without a body"));
  graph = call_with_body();
  Value second = graph.values.back();
  second.output_index = 1;
  graph.nodes[0].outputs.push_back(static_cast<ValueId>(graph.values.size()));
  graph.values.push_back(second);
  EXPECT_THAT(fault_of(graph), HasSubstr("2 outputs, and a call with a body has one"));
}

TEST(Families, a_call_with_a_body_overwrites_nothing_that_the_call_reads) {
  for (const int own : {0, 1}) {
    Builder b;
    const Handle x = b.input("x", DType::f32, {4});
    b.output(b.assign(x, x));
    Graph graph = b.build();
    graph.nodes[0].family = Family::call;
    graph.nodes[0].details = Call{.target = "vendor.magic.default", .own_operands = own};
    graph.nodes[0].body = {.steps = {{PointwiseOp::relu, {Ref::accumulator()}}}, .results = {0}};
    const std::string fault = fault_of(graph);
    EXPECT_EQ(fault.find("operand 0 reads [4]+0:[1] of 'x' while the node overwrites") != std::string::npos, own == 1)
        << fault;
    EXPECT_EQ(fault.empty(), own == 0) << fault;
  }
}

TEST(Families, files_keep_them_and_the_table_shows_them) {
  const Graph graph = every_family();
  EXPECT_EQ(from_json(to_json(graph)), graph);
  const std::string text = to_string(graph);
  EXPECT_THAT(text, HasSubstr("reduce(x) kind=amax dims=[1] keep=true"));
  EXPECT_THAT(text, HasSubstr("gather(x, index) coordinates=[-1, 1]"));
  EXPECT_THAT(text, HasSubstr("scan(x) kind=sum dim=1"));
  EXPECT_THAT(text, HasSubstr("call(x) target=vendor.magic.default"));
  const Graph body = call_with_body();
  EXPECT_EQ(from_json(to_json(body)), body);
  EXPECT_THAT(to_string(body),
              HasSubstr("call(x, y) target=vendor.magic.default own_operands=1 { s0 = add(acc, %1); "));
}

TEST(Families, each_rule_names_what_breaks_it) {
  Graph graph = every_family();
  std::get<Reduce>(graph.nodes[0].details).dims = {2};
  EXPECT_THAT(fault_of(graph), HasSubstr("reductions_fit"));
  graph = every_family();
  std::get<Gather>(graph.nodes[1].details).coordinates = {-2, 1};
  EXPECT_THAT(fault_of(graph), HasSubstr("coordinate -2 of dimension 0"));
  graph = every_family();
  std::get<Scan>(graph.nodes[3].details).dim = 5;
  EXPECT_THAT(fault_of(graph), HasSubstr("dimension 5 of rank 2"));
  graph = every_family();
  graph.nodes[3].details = Reduce{};
  EXPECT_THAT(fault_of(graph), HasSubstr("details are another family's"));
}

TEST(Families, what_no_type_takes_is_refused_by_name) {
  Builder b;
  b.at("total", "model.py:4 in f");
  b.output(b.reduce(Reduction::sum, b.input("x", DType::f32, {2, 3}), {1}));
  try {
    runtime::prepare(b.build());
    FAIL() << "no error";
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("node 'total' (reduce) at model.py:4 in f"));
    EXPECT_THAT(error.what(), HasSubstr("'reduce' is no"));
  }
}

TEST(Families, devices_have_an_index) {
  EXPECT_EQ(parse_device("cuda:3"), (Device{DeviceKind::cuda, 3}));
  EXPECT_EQ(to_string(parse_device("cuda:3")), "cuda:3");
  EXPECT_EQ(to_string(parse_device("cuda:0")), "cuda");
  EXPECT_THROW(parse_device("tpu"), FormatError);
  EXPECT_THROW(parse_device("cuda:x"), FormatError);
}

}  // namespace
}  // namespace megakittens::ir
