// Each pass: what it changes, what it leaves, and its switch.
#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "ir/reference.hpp"
#include "passes/pipeline.hpp"
#include "support/error.hpp"

namespace megakittens::passes {
namespace {

using ir::Builder;
using ir::DType;
using ir::Graph;
using ir::Handle;
using ir::PointwiseOp;
using ir::Ref;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const ir::Node& node : graph.nodes) ops.emplace_back(ir::op_of(node));
  return ops;
}

/// A tensor without dimensions that is the number.
Handle filled(Builder& b, double number) {
  return b.pointwise_body({.steps = {{PointwiseOp::identity, {Ref::constant(number)}}}, .results = {0}}, {},
                          DType::f32);
}

void expect_same_values(const Graph& before, const Graph& after) {
  ir::verify(after);
  std::vector<std::vector<float>> inputs;
  for (ir::ValueId id : before.inputs) {
    std::vector<float>& storage = inputs.emplace_back();
    for (std::int64_t i = 0; i < before.value(id).tensor.span(); ++i) storage.push_back(static_cast<float>(i % 7) - 2);
  }
  const ir::ReferenceResult want = ir::evaluate(before, inputs), got = ir::evaluate(after, inputs);
  EXPECT_EQ(got.outputs, want.outputs);
  EXPECT_EQ(got.inputs, want.inputs);
}

TEST(Passes, a_filled_tensor_becomes_a_constant_of_its_readers) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {4, 8});
  b.output(b.mul(b.add(x, b.exp(filled(b, 1))), filled(b, 2)));
  const Graph graph = b.build(), folded = fold_constants(graph, {});
  EXPECT_THAT(ops_of(folded), ElementsAre("pointwise", "pointwise"));
  EXPECT_EQ(folded.nodes[0].operands.size(), 1u);
  expect_same_values(graph, folded);
}

TEST(Passes, a_filled_tensor_that_is_returned_or_written_stays) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {8}), fill = filled(b, 3);
  b.output(b.add(x, fill));
  b.output(fill);
  const Graph graph = b.build();
  EXPECT_THAT(ops_of(fold_constants(graph, {})), ElementsAre("pointwise", "pointwise"));
  expect_same_values(graph, fold_constants(graph, {}));

  Builder w;
  const Handle y = w.input("y", DType::f32, {}), written = filled(w, 3);
  w.output(w.add(w.assign(written, y), y));
  const Graph writes = w.build();
  EXPECT_EQ(fold_constants(writes, {}).nodes.size(), writes.nodes.size());
  expect_same_values(writes, fold_constants(writes, {}));
}

TEST(Passes, a_copy_goes_where_its_reader_takes_the_view) {
  Builder b;
  const Handle x = b.input("x", DType::bf16, {64, 128}), w = b.input("w", DType::bf16, {128, 64});
  b.output(b.matmul(b.copy({x.value, x.view.slice(0, 8, 40)}), w));
  const Graph graph = b.build(), folded = fold_copies(graph, {});
  EXPECT_THAT(ops_of(folded), ElementsAre("matmul"));
  expect_same_values(graph, folded);
}

TEST(Passes, a_copy_is_read_through_slices_of_it) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {4, 64, 128});
  const Handle dense = b.copy({x.value, x.view.select(0, 2)});
  b.output(b.neg({dense.value, dense.view.slice(0, 16, 48, 2).slice(1, 32, 96)}));
  const Graph graph = b.build(), folded = fold_copies(graph, {});
  EXPECT_THAT(ops_of(folded), ElementsAre("neg"));
  expect_same_values(graph, folded);
}

TEST(Passes, a_copy_stays_where_its_source_changes_or_others_need_it) {
  Builder b;  // the source is overwritten before the reader
  const Handle x = b.input("x", DType::f32, {64, 128}), y = b.input("y", DType::f32, {64, 128});
  const Handle old = b.copy(x);
  b.assign(x, y);
  b.output(b.neg(old));
  const Graph overwritten = b.build();
  EXPECT_EQ(fold_copies(overwritten, {}).nodes.size(), 3u);

  Builder r;  // the caller gets it
  const Handle z = r.input("z", DType::f32, {64, 128});
  const Handle dense = r.copy(z);
  r.output(dense);
  r.output(r.neg(dense));
  EXPECT_EQ(fold_copies(r.build(), {}).nodes.size(), 2u);

  Builder t;  // the product's tiles cannot come from it by bulk copies
  const Handle a = t.input("a", DType::bf16, {64, 256}), w = t.input("w", DType::bf16, {128, 64});
  t.output(t.matmul(t.copy({a.value, a.view.slice(1, 0, 256, 2)}), w));
  EXPECT_EQ(fold_copies(t.build(), {}).nodes.size(), 2u);
}

TEST(Passes, operands_without_tensor_maps_are_copied_into_padded_rows) {
  Builder b;
  const Handle x = b.input("x", DType::bf16, {40, 35}), w = b.input("w", DType::bf16, {35, 24});
  const Handle t = b.input("t", DType::bf16, {35, 41});  // shown transposed: its M is contiguous
  b.output(b.matmul(x, w));
  b.output(b.matmul({t.value, t.view.transpose(0, 1)}, w));
  const Graph graph = b.build(), padded = pad_operands(graph, {});
  EXPECT_THAT(ops_of(padded), ElementsAre("copy", "matmul", "copy", "matmul"));
  EXPECT_EQ(padded.value(padded.nodes[0].outputs[0]).tensor.strides, (ir::Extents{40, 1}));
  EXPECT_EQ(padded.value(padded.nodes[2].outputs[0]).tensor.strides, (ir::Extents{48, 1}));
  EXPECT_EQ(padded.nodes[3].operands[0].view.strides, (ir::Extents{1, 48}));
  expect_same_values(graph, padded);
  EXPECT_EQ(pad_operands(padded, {}), padded);
}

TEST(Passes, a_product_between_products_writes_padded_rows_itself) {
  Builder b;
  const Handle x = b.input("x", DType::bf16, {40, 64}), w = b.input("w", DType::bf16, {64, 35});
  const Handle u = b.input("u", DType::bf16, {24, 35}), h = b.matmul(x, w);
  b.output(b.matmul(h, {u.value, u.view.transpose(0, 1)}));
  const Graph graph = b.build(), padded = pad_operands(graph, {});
  // The first product's w and the second one's u have no rows of whole 16 bytes; what lies between has them now.
  EXPECT_THAT(ops_of(padded), ElementsAre("copy", "matmul", "copy", "matmul"));
  EXPECT_EQ(padded.value(padded.nodes[1].outputs[0]).tensor.strides, (ir::Extents{40, 1}));
  EXPECT_EQ(padded.nodes[3].operands[0].value, padded.nodes[1].outputs[0]);
  expect_same_values(graph, padded);
}

TEST(Passes, what_the_caller_gets_stays_dense_and_broadcast_matrices_are_copied_once) {
  Builder b;
  const Handle x = b.input("x", DType::bf16, {3, 40, 64}), w = b.input("w", DType::bf16, {64, 35});
  const Handle u = b.input("u", DType::bf16, {35, 24}), h = b.matmul(x, w);
  b.output(h);
  b.output(b.matmul(h, u));
  const Graph graph = b.build(), padded = pad_operands(graph, {});
  EXPECT_THAT(ops_of(padded), ElementsAre("copy", "matmul", "copy", "matmul"));
  EXPECT_EQ(padded.value(padded.nodes[0].outputs[0]).tensor.elements(), 64 * 35);
  EXPECT_TRUE(padded.value(padded.nodes[1].outputs[0]).tensor.is_contiguous());
  EXPECT_EQ(padded.nodes[2].operands[0].value, padded.nodes[1].outputs[0]);
  expect_same_values(graph, padded);

  Graph returned = padded;  // rows with gaps are no caller's
  returned.outputs[0] = {padded.nodes[2].outputs[0], padded.nodes[3].operands[0].view};
  EXPECT_THROW(ir::verify(returned), FormatError);
}

TEST(Passes, a_value_that_a_padding_copy_reads_is_made_as_before) {
  Builder b;
  const Handle x = b.input("x", DType::bf16, {64, 64}), w = b.input("w", DType::bf16, {64, 20}), h = b.matmul(x, w);
  // The left operand begins at an odd element, whatever h's pitch is.
  b.output(b.matmul({h.value, h.view.slice(1, 1, 3)}, {h.value, h.view.slice(0, 0, 2)}));
  const Graph graph = b.build(), padded = pad_operands(graph, {});
  expect_same_values(graph, padded);
}

TEST(Passes, what_is_exact_is_not_rounded_between_operations) {
  auto rounds = [](auto make) {
    Builder b;
    const Handle x = b.input("x", DType::bf16, {64});
    b.output(make(b, x));
    const Graph graph = b.build(), fused = fuse_pointwise(graph, {});
    expect_same_values(graph, fused);
    EXPECT_EQ(fused.nodes.size(), 1u);
    return std::ranges::count(fused.nodes[0].body->steps, PointwiseOp::round, &ir::Step::op);
  };
  EXPECT_EQ(rounds([](Builder& b, Handle x) { return b.relu(b.neg(b.pointwise(PointwiseOp::abs, {x}))); }), 0);
  EXPECT_EQ(rounds([](Builder& b, Handle x) { return b.relu(b.pointwise(PointwiseOp::minimum, b.neg(x), 2.5)); }), 0);
  // Through another 16-bit type and back: neither holds all of the other's values.
  EXPECT_EQ(rounds([](Builder& b, Handle x) { return b.neg(b.cast(b.cast(x, DType::f16), DType::bf16)); }), 2);
  // 0.1 is no bf16, and a sum seldom is.
  EXPECT_EQ(rounds([](Builder& b, Handle x) { return b.neg(b.pointwise(PointwiseOp::minimum, x, 0.1)); }), 1);
  EXPECT_EQ(rounds([](Builder& b, Handle x) { return b.relu(b.neg(b.add(x, x))); }), 1);
}

TEST(Passes, equal_nodes_are_computed_once) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {16, 16}), w = b.input("w", DType::f32, {16, 16});
  b.output(b.add(b.relu(b.matmul(x, w)), b.neg(b.matmul(x, w))));
  const Graph graph = b.build(), merged = merge_equal_nodes(graph, {});
  EXPECT_THAT(ops_of(merged), UnorderedElementsAre("matmul", "relu", "neg", "add"));
  expect_same_values(graph, merged);
}

TEST(Passes, equal_results_that_the_caller_gets_stay_two_tensors) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {16});
  b.output(b.exp(x));
  b.output(b.exp(x));
  EXPECT_EQ(merge_equal_nodes(b.build(), {}).nodes.size(), 2u);
}

TEST(Passes, equal_nodes_between_writes_are_two) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {16}), y = b.input("y", DType::f32, {16});
  const Handle before = b.exp(x), after = b.exp(b.assign(x, y));
  b.output(b.add(before, after));
  const Graph graph = b.build(), merged = merge_equal_nodes(graph, {});
  EXPECT_EQ(merged.nodes.size(), 4u);
  expect_same_values(graph, merged);
}

TEST(Passes, each_has_a_switch_and_can_be_watched) {
  Builder b;
  const Handle x = b.input("x", DType::f32, {16, 16});
  b.output(b.relu(b.neg(x)));
  std::vector<std::string> seen;
  Options options;
  options.observe = [&](std::string_view pass, const Graph&, double) { seen.emplace_back(pass); };
  EXPECT_THAT(ops_of(run_pipeline(b.build(), options)), ElementsAre("pointwise"));
  EXPECT_EQ(seen.size(), passes().size());
  switch_pass(options, "fusion", false);
  EXPECT_THAT(ops_of(run_pipeline(b.build(), options)), ElementsAre("neg", "relu"));
  EXPECT_EQ(seen.size(), 2 * passes().size() - 1);
  try {
    switch_pass(options, "fusoin", false);
    FAIL() << "no error";
  } catch (const OptionError& error) {
    EXPECT_STREQ(error.what(), "unknown switch of a pass 'fusoin'; known are folding, views, fusion, padding, merging");
  }
}

}  // namespace
}  // namespace megakittens::passes
