// Every pointwise operation and type through scheduler and interpreter, against the reference.
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "support/pointwise_graphs.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Handle;
using ir::PointwiseOp;

constexpr DType kFloating[] = {DType::bf16, DType::f16, DType::f32};

RunSetup unfused() {
  RunSetup setup = small_machine();
  setup.passes.fusion = false;
  return setup;
}

class PointwiseGraph : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, PointwiseGraph, testing::ValuesIn(kFloating),
                         [](const auto& param) { return std::string(ir::name_of(param.param)); });

std::string problem_of(PointwiseOp op, DType dtype, const RunSetup& setup) {
  const OperationGraph both_paths = alone({&op, 1}, dtype, dtype);
  return run_and_compare(both_paths.graph, setup, both_paths.tolerances[0]);
}

TEST_P(PointwiseGraph, every_operation_agrees_with_the_reference_tiled_and_general) {
  for (const PointwiseOp op : pointwise_operations()) {
    RunSetup setup = unfused();
    choose_domain(is_of_positive(op), setup);
    EXPECT_EQ(problem_of(op, GetParam(), setup), "") << name_of(op);
  }
}

TEST_P(PointwiseGraph, nan_infinity_and_zeros_pass_as_the_reference_says) {
  for (const PointwiseOp op : pointwise_operations()) {
    RunSetup setup = unfused();
    setup.specials = true;
    setup.run.check = false;
    EXPECT_EQ(problem_of(op, GetParam(), setup), "") << name_of(op);
  }
}

TEST_P(PointwiseGraph, scalar_argument_dropped) {
  // Every operation that takes a scalar, and add's alpha, reach the device with it, fused or not.
  ir::Builder b;
  Handle x = b.input("x", GetParam(), {20, 136});
  Handle y = b.input("y", GetParam(), {7});
  for (PointwiseOp op : {PointwiseOp::add, PointwiseOp::sub, PointwiseOp::mul, PointwiseOp::div, PointwiseOp::maximum,
                         PointwiseOp::minimum, PointwiseOp::lt, PointwiseOp::ge}) {
    b.output(b.pointwise(op, x, 0.3));
    b.output(b.pointwise(op, y, -0.3));
  }
  b.output(b.pointwise(PointwiseOp::pow, x, 2));
  b.output(b.add(b.pointwise(PointwiseOp::mul, x, 1.7), x));
  EXPECT_EQ(run_and_compare(b.build(), unfused()), "");
  EXPECT_EQ(run_and_compare(b.build(), small_machine()), "");
}

TEST_P(PointwiseGraph, casts_reach_every_type_that_results_may_have) {
  for (DType from : {DType::bf16, DType::f16, DType::f32, DType::i64, DType::i32, DType::boolean}) {
    ir::Builder b;
    b.output(b.cast(b.input("x", from, {20, 256}), GetParam()));
    b.output(b.cast(b.input("y", from, {3, 5}), GetParam()));
    b.output(b.cast(b.input("z", from, {3, 50}), DType::boolean));
    b.output(b.cast(b.input("w", from, {20, 256}), DType::boolean));
    EXPECT_EQ(run_and_compare(b.build(), unfused()), "") << ir::name_of(from);
  }
}

TEST_P(PointwiseGraph, where_takes_bool_and_integer_conditions) {
  for (DType condition : {DType::boolean, DType::i64}) {
    ir::Builder b;
    for (const ir::Extents& shape : {ir::Extents{20, 136}, ir::Extents{5, 33}, ir::Extents{1}}) {
      Handle c = b.input("c", condition, shape);
      Handle x = b.input("x", GetParam(), shape);
      Handle y = b.input("y", GetParam(), {});
      b.output(b.pointwise(PointwiseOp::where, {c, x, y}));
      b.output(b.pointwise(PointwiseOp::where, {b.pointwise(PointwiseOp::lt, {x, y}), y, x}));
    }
    EXPECT_EQ(run_and_compare(b.build(), unfused()), "") << ir::name_of(condition);
  }
}

// A chain with every kind of neighbour: what is kept, what stays in the accumulator, what is exchanged.
ir::Graph chain(DType dtype, const ir::Extents& shape) {
  ir::Builder b;
  Handle x = b.input("x", dtype, shape), y = b.input("y", dtype, shape);
  Handle row = b.input("row", dtype, {shape.back()}), column = b.input("column", dtype, {shape[0], 1});
  Handle a = b.pointwise(PointwiseOp::sub, {row, b.mul(x, y)});
  Handle c = b.pointwise(PointwiseOp::div, {b.relu(b.add(a, column)), b.pointwise(PointwiseOp::add, b.mul(y, y), 1.0)});
  Handle d = b.pointwise(PointwiseOp::where, {b.pointwise(PointwiseOp::gt, {c, x}), c, a});
  b.output(b.pointwise(PointwiseOp::maximum, {b.mul(b.pointwise(PointwiseOp::silu, {d}), x), column}));
  return b.build();
}

TEST_P(PointwiseGraph, fused_chains_with_eager_numerics_give_the_same_bits) {
  for (const ir::Extents& shape : {ir::Extents{20, 136}, ir::Extents{5, 33}, ir::Extents{3, 700}}) {
    RunSetup setup = small_machine();
    GraphRun fused(chain(GetParam(), shape), setup);
    EXPECT_EQ(problem_of(fused.launch(), {}), "") << ir::to_string(fused.graph());
    EXPECT_LT(fused.graph().nodes.size(), 10U);
    setup.passes.fusion = false;
    EXPECT_EQ(run_and_compare(chain(GetParam(), shape), setup), "");
    setup.passes = {.fusion = true, .numerics = passes::Numerics::fused};
    Tolerance few = units_of(GetParam(), 8);
    few.absolute = 2 * few.relative;
    EXPECT_EQ(run_and_compare(chain(GetParam(), shape), setup, few), "");
  }
}

TEST_P(PointwiseGraph, a_cast_to_bool_inside_a_chain_gives_zero_or_one) {
  ir::Builder b;
  Handle x = b.input("x", GetParam(), {5, 33});
  b.output(b.pointwise(PointwiseOp::add, {b.cast(b.cast(x, DType::boolean), GetParam()), x}));
  for (passes::Numerics numerics : {passes::Numerics::eager, passes::Numerics::fused}) {
    RunSetup setup = small_machine();
    setup.passes.numerics = numerics;
    EXPECT_EQ(run_and_compare(b.build(), setup), "");
  }
}

}  // namespace
}  // namespace megakittens::test
