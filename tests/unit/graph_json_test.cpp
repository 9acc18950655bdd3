#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ir/builder.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

using testing::HasSubstr;

Graph everything() {
  Builder builder("everything");
  Handle x = builder.input("x", Tensor{DType::f16, {8, 6}, {1, 8}, {DeviceKind::cuda}});
  Handle cache = builder.input("cache", DType::f16, {4, 6});
  builder.at("chain", "a.py:3 in f");
  double infinity = std::numeric_limits<double>::infinity();
  PointwiseBody body{.steps = {{PointwiseOp::maximum, {Ref::operand(0), Ref::constant(-infinity)}, DType::f32},
                               {PointwiseOp::round, {Ref::step(0)}, DType::f16},
                               {PointwiseOp::pow, {Ref::step(1), Ref::constant(0.1)}, DType::f32}},
                     .results = {2}};
  Handle chain = builder.pointwise_body(std::move(body), {x}, DType::f16);
  builder.assign({cache.value, cache.view.slice(0, 0, 4, 2)}, {chain.value, chain.view.slice(0, 0, 2)});
  builder.output(builder.call("aten.sort.default", {chain}, Tensor::dense(DType::i64, {8, 6})));
  builder.output({x.value, x.view.transpose(0, 1)});
  Graph graph = builder.build();
  auto& last = std::get<Call>(graph.nodes.back().details);
  last.arguments["dim"] = std::int64_t{-1};
  last.arguments["scale"] = 2.0;
  last.arguments["limit"] = infinity;
  last.arguments["stable"] = true;
  last.arguments["sizes"] = std::vector<std::int64_t>{1, 2};
  last.arguments["none"] = std::vector<std::int64_t>{};
  last.why = "nothing sorts";
  return graph;
}

std::string fault_of(const std::string& text) {
  try {
    from_json(text);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST(GraphJson, a_graph_round_trips) {
  Graph graph = everything();
  EXPECT_EQ(from_json(to_json(graph)), graph);
  EXPECT_EQ(to_json(from_json(to_json(graph))), to_json(graph));
}

TEST(GraphJson, a_fault_names_its_path) {
  std::string text = to_json(everything());
  EXPECT_THAT(fault_of(with(text, "\"f16\"", "\"f17\"")), HasSubstr("$.values[0].dtype: unknown dtype 'f17'"));
  EXPECT_THAT(fault_of(with(text, "\"%0\"", "\"%x\"")), HasSubstr("nodes[0].body.steps[0][1]: unknown argument '%x'"));
  EXPECT_THAT(fault_of(with(text, "\"op\":", "\"oq\":")), HasSubstr("$.nodes[0]: unknown field 'oq'"));
  EXPECT_THAT(fault_of(with(text, "[8,6]", "[8,-6]")), HasSubstr("$.values[0].shape[1]: expected an integer from 0"));
}

TEST(GraphJson, another_version_is_refused_with_both_numbers) {
  EXPECT_THAT(fault_of(with(to_json(everything()), "\"megakittens_graph\": 2", "\"megakittens_graph\": 7")),
              HasSubstr("version 7, this build reads version 2"));
}

TEST(GraphJson, a_foreign_file_is_refused) {
  EXPECT_THAT(fault_of("{\"format\": \"pt2\"}"), HasSubstr("not a megakittens graph"));
  EXPECT_THAT(fault_of("\x80\x02}q"), HasSubstr("not JSON"));
  EXPECT_THAT(fault_of(""), HasSubstr("not JSON"));
}

TEST(GraphJson, a_missing_file_is_named) {
  EXPECT_THROW(load("/nowhere/x.mkg.json"), UserError);
  EXPECT_THROW(save(everything(), "/nowhere/x.mkg.json"), UserError);
}

TEST(GraphJson, deep_nesting_is_no_crash) {
  EXPECT_NE(fault_of(std::string(1000000, '[')), "");
  std::string deep =
      "{\"megakittens_graph\": 2, \"name\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_THAT(fault_of(deep), HasSubstr("nested more than 64 deep"));
}

TEST(GraphJson, a_number_replaced_by_an_extreme_one_is_no_crash) {
  const std::string text = to_json(everything());
  const std::string tokens[] = {"-1", "99999999999999999999", "null", "[]", "{}", "1e400", "4611686018427387904"};
  for (std::size_t at = text.find_first_of("0123456789"); at != std::string::npos;
       at = text.find_first_of("0123456789", at + 1))
    for (const std::string& token : tokens) {
      std::string damaged = text;
      damaged.replace(at, 1, token);
      try {
        verify(from_json(damaged));
      } catch (const UserError&) {
      }
    }
}

}  // namespace megakittens::ir
