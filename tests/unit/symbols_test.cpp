#include "ir/symbols.hpp"

#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "ir/reference.hpp"
#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// What mlp(s0) builds, with s0 in place of its rows. The strides that slices and transposes of cache have hold s0.
constexpr const char* kSymbolicMlp = R"({"megakittens_graph": 2, "name": "mlp", "symbols": {"s0": 128},
 "values": [
  {"name":"x","dtype":"bf16","shape":["s0",64]},
  {"name":"W","dtype":"bf16","shape":[2,64,64]},
  {"name":"b","dtype":"bf16","shape":[64]},
  {"name":"cache","dtype":"bf16","shape":[3,64,"2*s0"]},
  {"name":"mm0","dtype":"bf16","shape":["s0",64]},
  {"name":"add_1","dtype":"bf16","shape":["s0",64]},
  {"name":"relu_2","dtype":"bf16","shape":["s0",64]},
  {"name":"mm1","dtype":"bf16","shape":["s0",64]},
  {"name":"copy_4","dtype":"bf16","shape":[3,64,"2*s0"],"mutates":[3,"128*s0 + s0",[64,"s0"],["2*s0",1]]},
  {"name":"relu_5","dtype":"bf16","shape":["s0 - 32",32]}],
 "inputs": [0,1,2,3],
 "nodes": [
  {"op":"matmul","name":"mm0","operands":[[0],[1,0,[64,64],[64,1]]],"outputs":[4],"source":"model.py:7"},
  {"op":"add","name":"add_1","operands":[[4],[2,0,["s0",64],[0,1]]],"outputs":[5],"source":"model.py:7"},
  {"op":"relu","name":"relu_2","operands":[[5]],"outputs":[6],"source":"model.py:7"},
  {"op":"matmul","name":"mm1","operands":[[6],[1,4096,[64,64],[1,64]]],"outputs":[7],"source":"model.py:8"},
  {"op":"copy","name":"copy_4","operands":[[7,0,[64,"s0"],[1,64]]],"outputs":[8],"source":"model.py:8"},
  {"op":"relu","name":"relu_5","operands":[[6,"64*32",["s0 - 32",32],[64,2]]],"outputs":[9],"source":"model.py:8"}],
 "outputs": [[8],[8,0,["2*s0",64],[1,"2*s0"]],[9]]})";

/// Two layers on `rows` rows, written transposed into a part of a cache, and a slice of the first.
Graph mlp(std::int64_t rows) {
  Builder builder("mlp");
  Handle x = builder.input("x", DType::bf16, {rows, 64});
  Handle W = builder.input("W", DType::bf16, {2, 64, 64});
  Handle b = builder.input("b", DType::bf16, {64});
  Handle cache = builder.input("cache", DType::bf16, {3, 64, 2 * rows});
  builder.at("mm0", "model.py:7");
  Handle h = builder.relu(builder.add(builder.matmul(x, {W.value, W.view.select(0, 0)}), b));
  builder.at("mm1", "model.py:8");
  Handle y = builder.matmul(h, {W.value, W.view.select(0, 1).transpose(0, 1)});
  Handle after = builder.assign({cache.value, cache.view.select(0, 1).slice(1, rows, 2 * rows)},
                                {y.value, y.view.transpose(0, 1)});
  builder.output(after);
  builder.output({after.value, after.view.select(0, 0).transpose(0, 1)});
  builder.output(builder.relu({h.value, h.view.slice(0, 32, rows).slice(1, 0, 64, 2)}));
  return builder.build();
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <typename Error, typename Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string fault_of(const std::string& text) {
  return message_of<FormatError>([&] { from_json(text); });
}

std::string canonical(std::string_view text) {
  return to_string(Expression::parse(text));
}

std::string expression_fault(std::string_view text) {
  return message_of<FormatError>([&] { Expression::parse(text); });
}

/// x of `shape`, which is the text of a JSON array, returned as it is.
std::string identity(const std::string& shape, const std::string& symbols, const std::string& strides = "") {
  const std::string field = strides.empty() ? "" : ", \"strides\": " + strides;
  return fmt::format(
      R"({{"megakittens_graph": 2, "name": "f", "symbols": {}, "values": [{{"name": "x", "dtype": "f32", )"
      R"("shape": {}{}}}], "inputs": [0], "nodes": [], "outputs": [[0]]}})",
      symbols, shape, field);
}

}  // namespace

TEST(Expression, prints_one_form_of_each_polynomial) {
  EXPECT_EQ(canonical("3+s0 *2"), "2*s0 + 3");
  EXPECT_EQ(canonical("s1*64*s0"), "64*s0*s1");
  EXPECT_EQ(canonical("-1 + s0 - s1*s1*2 + s0"), "-2*s1*s1 + 2*s0 - 1");
  EXPECT_EQ(canonical("s0 - s0"), "0");
  EXPECT_EQ(canonical("2 * 3*7"), "42");
  EXPECT_EQ(canonical("- batch"), "-batch");
  for (const char* text : {"2*s0 + 3", "64*s0*s1", "-2*s1*s1 + 2*s0 - 1", "0", "_a1 - 9223372036854775807"})
    EXPECT_EQ(canonical(text), text);
}

TEST(Expression, equal_polynomials_compare_equal) {
  EXPECT_EQ(Expression::parse("s0 + 2") * Expression::parse("s0 - 2"), Expression::parse("s0*s0 - 4"));
  EXPECT_EQ(Expression::parse("s0 + 2") + Expression::parse("-s0"), Expression(2));
  EXPECT_FALSE(Expression::parse("s0") == Expression::parse("s1"));
  EXPECT_TRUE(Expression::parse("s0 - s0 + 4").is_constant());
  EXPECT_EQ(Expression::parse("s1*s0 + s1").symbols(), (std::set<std::string>{"s0", "s1"}));
}

TEST(Expression, a_fault_names_the_character) {
  EXPECT_EQ(expression_fault(""), "'' is no size: expected a number or a symbol at character 1");
  EXPECT_THAT(expression_fault("2*"), HasSubstr("expected a number or a symbol at character 3"));
  EXPECT_THAT(expression_fault("s0 s1"), HasSubstr("expected *, + or - at character 4"));
  EXPECT_THAT(expression_fault("(s0)"), HasSubstr("expected a number or a symbol at character 1"));
  EXPECT_THAT(expression_fault("s0//2"), HasSubstr("expected *, + or - at character 3"));
  EXPECT_THAT(expression_fault("1 + 2s0"),
              HasSubstr("'2s0' is neither a symbol nor a number of 64 bits at character 5"));
  EXPECT_THAT(expression_fault("9223372036854775808"), HasSubstr("neither a symbol nor a number of 64 bits"));
}

TEST(Expression, evaluation_reports_overflow) {
  const SymbolValues values{{"a", 1 << 20}, {"b", std::int64_t{1} << 43}};
  EXPECT_EQ(Expression::parse("3*a + 1").evaluate(values), 3 * (1 << 20) + 1);
  EXPECT_EQ(Expression::parse("a - b*2").evaluate(values), (1 << 20) - (std::int64_t{1} << 44));
  EXPECT_EQ(Expression::parse("a*b").evaluate(values), std::nullopt);
  EXPECT_EQ(Expression::parse("9223372036854775807 + a").evaluate(values), std::nullopt);
}

TEST(Expression, what_grows_without_limit_is_refused) {
  EXPECT_THAT(expression_fault("9223372036854775807*2"), HasSubstr("a coefficient does not fit 64 bits"));
  EXPECT_THAT(expression_fault("9223372036854775807 + 1"), HasSubstr("a coefficient does not fit 64 bits"));
  EXPECT_THAT(expression_fault("-9223372036854775807*s - s"), HasSubstr("a coefficient does not fit 64 bits"));
  std::string many = "s0";
  for (int i = 1; i < 17; ++i) many += fmt::format("+s{}", i);
  EXPECT_THAT(expression_fault(many), HasSubstr("a sum of 17 terms; at most 16"));
  std::string power = "s";
  for (int i = 1; i < 9; ++i) power += "*s";
  EXPECT_THAT(expression_fault(power), HasSubstr("a product of 9 symbols; at most 8"));
  EXPECT_THAT(expression_fault(std::string(1001, ' ')), HasSubstr("1001 characters"));
}

TEST(Symbols, a_bound_graph_is_the_one_that_was_built_with_those_sizes) {
  const Graph symbolic = from_json(kSymbolicMlp);
  for (const std::int64_t rows : {64, 96, 128, 200}) {
    const Graph bound = bind_symbols(symbolic, {{"s0", rows}});
    EXPECT_EQ(bound, mlp(rows)) << to_json(bound) << to_json(mlp(rows));
    EXPECT_NO_THROW(expect_bound(bound));
  }
}

TEST(Symbols, a_symbolic_graph_round_trips) {
  const Graph graph = from_json(kSymbolicMlp);
  EXPECT_EQ(graph.symbols, (SymbolValues{{"s0", 128}}));
  const std::string text = to_json(graph);
  EXPECT_EQ(from_json(text), graph);
  EXPECT_EQ(to_json(from_json(text)), text);
  // Dense strides and whole views stay implicit, constant expressions become numbers.
  EXPECT_THAT(text, AllOf(HasSubstr(R"("shape":[3,64,"2*s0"],"mutates":[3,"129*s0",[64,"s0"],["2*s0",1]]})"),
                          HasSubstr(R"("operands":[[0],[1,0,[64,64],[64,1]]])"),
                          HasSubstr(R"([[6,2048,["s0 - 32",32])"), Not(HasSubstr("strides"))));
}

TEST(Symbols, dense_strides_of_several_symbols_are_products) {
  const Graph graph = from_json(identity(R"([7, "s1 + 1", 1, "s0", 64])", R"({"s0": 2, "s1": 3})"));
  EXPECT_EQ(to_string(*expression_at(graph, {.holder = {}, .field = Place::Field::stride, .dim = 0})),
            "64*s0*s1 + 64*s0");
  EXPECT_EQ(bind_symbols(graph, {{"s0", 5}, {"s1", 8}}).values[0].tensor, Tensor::dense(DType::f32, {7, 9, 1, 5, 64}));
}

TEST(Symbols, strides_that_are_dense_with_the_samples_alone_are_kept) {
  const Graph graph = from_json(identity(R"([4, "s0"])", R"({"s0": 64})", "[64, 1]"));
  EXPECT_EQ(from_json(to_json(graph)), graph);
  EXPECT_EQ(bind_symbols(graph, {{"s0", 32}}).values[0].tensor.strides, (Extents{64, 1}));
  const std::string part = with(identity(R"(["s0"])", R"({"s0": 64})"), "[[0]]", "[[0, 0, [64], [1]]]");
  EXPECT_EQ(from_json(to_json(from_json(part))), from_json(part));
  EXPECT_EQ(bind_symbols(from_json(part), {{"s0", 100}}).outputs[0].view.sizes, (Extents{64}));
}

TEST(Symbols, the_text_form_prints_expressions) {
  EXPECT_THAT(
      to_string(from_json(kSymbolicMlp)),
      AllOf(HasSubstr("3 outputs, symbols s0\n"), HasSubstr("bf16[s0, 64]"), HasSubstr("matmul(x, W[0])"),
            HasSubstr("add(mm0, b.expand(s0, 64))"), HasSubstr("copy(mm1.T)"),
            HasSubstr("relu(relu_2{[s0 - 32, 32]+2048:[64, 2]})"), HasSubstr("into cache{[64, s0]+129*s0:[2*s0, 1]}"),
            HasSubstr("return copy_4, copy_4{[2*s0, 64]+0:[1, 2*s0]}, relu_5")));
}

TEST(Symbols, a_fault_in_a_file_names_its_path) {
  auto fault = [](const std::string& shape, const std::string& symbols) { return fault_of(identity(shape, symbols)); };
  EXPECT_THAT(fault(R"([4, "s1"])", R"({"s0": 8})"),
              HasSubstr("$.values[0].shape[1]: 's1' is not among the graph's \"symbols\""));
  EXPECT_THAT(fault(R"([4, "2s"])", R"({"s0": 8})"), HasSubstr("$.values[0].shape[1]: '2s' is no size"));
  EXPECT_THAT(fault(R"([4, "s0 - 8"])", R"({"s0": 8})"), HasSubstr("shape[1]: s0 - 8 is 0, below 1, with the samples"));
  EXPECT_THAT(fault(R"(["s0", 4])", R"({"s0": 8, "s1": 8})"), HasSubstr("$.symbols.s1: no size uses this symbol"));
  EXPECT_THAT(fault(R"(["s0", 4])", R"({"s0": 0})"), HasSubstr("$.symbols.s0: expected an integer from 1 to"));
  EXPECT_THAT(fault(R"(["s0", 4])", R"({"s 0": 8})"), HasSubstr("$.symbols.s 0: a symbol is a letter"));
  EXPECT_THAT(fault(R"(["s0*s0", 4])", R"({"s0": 281474976710656})"), HasSubstr("s0*s0 is above"));
  EXPECT_THAT(fault_of(with(kSymbolicMlp, "[64,\"s0\"],[1,64]", "[64,\"s9\"],[1,64]")),
              HasSubstr("$.nodes[4].operands[0][2][1]: 's9' is not among"));
  EXPECT_THAT(fault_of(with(kSymbolicMlp, "\"s0\": 128", "\"s0\": 32")),
              HasSubstr("$.values[9].shape[0]: s0 - 32 is 0"));
}

TEST(Symbols, a_graph_whose_expressions_disagree_with_its_integers_is_refused) {
  auto fault = [](auto&& damage) {
    Graph graph = from_json(kSymbolicMlp);
    damage(graph);
    return message_of<FormatError>([&] { verify(graph); });
  };
  EXPECT_THAT(fault([](Graph& g) { g.symbols["s1"] = 3; }), HasSubstr("no size uses symbol 's1'"));
  EXPECT_THAT(fault([](Graph& g) { g.symbols["s0"] = 0; }), HasSubstr("symbol 's0' has the sample 0"));
  EXPECT_THAT(fault([](Graph& g) { g.symbols["s0"] = 256; }),
              HasSubstr("size 0 of value 'x': s0 is 256, the graph has 128"));
  EXPECT_THAT(fault([](Graph& g) { g.symbols.clear(); }), HasSubstr("has the unknown symbol 's0'"));
  EXPECT_THAT(fault([](Graph& g) { std::swap(g.holes[0], g.holes[1]); }), HasSubstr("expression 1 is out of order"));
  EXPECT_THAT(fault([](Graph& g) { g.holes.back().where.dim = 7; }), HasSubstr("stands for no integer"));
  EXPECT_THAT(fault([](Graph& g) { g.holes[0].expression = Expression(128); }), HasSubstr("128 has no symbol"));
}

TEST(Symbols, a_mistake_in_bind_names_the_symbol) {
  const Graph graph = from_json(identity(R"(["s0", "s1"])", R"({"s0": 2, "s1": 3})"));
  auto fault = [&](const SymbolValues& values) {
    return message_of<OptionError>([&] { bind_symbols(graph, values); });
  };
  EXPECT_EQ(fault({}), "graph 'f': no value for s0, s1; it has s0, s1");
  EXPECT_EQ(fault({{"s0", 4}}), "graph 'f': no value for s1; it has s0, s1");
  EXPECT_EQ(fault({{"s0", 4}, {"s1", 4}, {"t", 4}}), "graph 'f' has no symbol 't'; it has s0, s1");
  EXPECT_EQ(fault({{"s0", 4}, {"s1", 0}}), "graph 'f': s1 = 0; a symbol is at least 1");
  EXPECT_EQ(message_of<OptionError>([] { bind_symbols(mlp(64), {{"s0", 64}}); }),
            "graph 'mlp' has no symbol 's0'; it has none");
  EXPECT_EQ(bind_symbols(mlp(64), {}), mlp(64));
}

TEST(Symbols, sizes_that_do_not_fit_are_refused_with_the_node) {
  auto fault = [](const std::string& text, const SymbolValues& values) {
    return message_of<FormatError>([&] { bind_symbols(from_json(text), values); });
  };
  EXPECT_THAT(fault(kSymbolicMlp, {{"s0", 32}}),
              HasSubstr("graph 'mlp' with s0 = 32: size 0 of value 'relu_5': s0 - 32 is 0, below 1"));
  // With s0 columns the product fits the sample alone.
  const std::string square = with(kSymbolicMlp, "\"shape\":[\"s0\",64]", "\"shape\":[\"s0\",\"s0 - 64\"]");
  EXPECT_THAT(fault(square, {{"s0", 96}}),
              HasSubstr("with s0 = 96: graph 'mlp' breaks rule products_fit: node 'mm0' (matmul) at model.py:7"));
  EXPECT_THAT(fault(identity(R"(["s0", "s0"])", R"({"s0": 2})"), {{"s0", std::int64_t{1} << 30}}),
              HasSubstr("with s0 = 1073741824: graph 'f' breaks rule tensors_are_well_formed: value 0 'x'"));
  EXPECT_THAT(fault(identity(R"(["s0", "s0"])", R"({"s0": 2})"), {{"s0", INT64_MAX}}),
              HasSubstr("size 0 of value 'x': s0 is above 281474976710656"));
}

TEST(Symbols, what_needs_sizes_refuses_an_unbound_graph) {
  const Graph graph = from_json(kSymbolicMlp);
  const std::string want =
      "graph 'mlp' has unbound symbols s0: bind them first (graph.bind({{\"s0\", 128}}), --bind s0=128)";
  EXPECT_EQ(message_of<UserError>([&] { expect_bound(graph); }), want);
  EXPECT_EQ(message_of<UserError>([&] { evaluate(graph, {}); }), want);
  EXPECT_EQ(message_of<UserError>([&] { passes::run_pipeline(graph, {}); }), want);
  const program::Config config{.architecture = program::Architecture::sm_90a, .sms = 4, .cluster = 1};
  EXPECT_EQ(message_of<UserError>([&] { schedule::schedule(graph, {.config = config, .name = {}, .resolve = {}}); }),
            want);
}

}  // namespace megakittens::ir
