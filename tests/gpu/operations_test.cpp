// Every pointwise operation on a Hopper GPU against the reference, value by value: alone, in chains, behind products,
// of every type, and with what is no number.
#include <gtest/gtest.h>

#include "gpu/fixture.hpp"
#include "support/pointwise_graphs.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::PointwiseOp;

constexpr DType kFloating[] = {DType::bf16, DType::f16, DType::f32};

/// The operations in whose domain inputs have to be positive, or all others.
std::vector<PointwiseOp> operations(bool positive) {
  std::vector<PointwiseOp> result;
  for (const PointwiseOp op : pointwise_operations())
    if (is_of_positive(op) == positive) result.push_back(op);
  return result;
}

std::string problem_of(const OperationGraph& operations, const ir::ReferenceResult& got,
                       const ir::ReferenceResult& want) {
  std::string problems;
  for (std::size_t k = 0; k < operations.ops.size(); ++k) {
    const std::string text = difference({got.outputs[k]}, {want.outputs[k]}, operations.tolerances[k]);
    if (!text.empty()) problems += fmt::format("{}: {}\n", name_of(operations.ops[k]), text);
  }
  return problems + difference(got.inputs, want.inputs);
}

void expect_values(const OperationGraph& operations, const RunSetup& inputs, const passes::Options& passes = {}) {
  for (const Configuration& configuration : kConfigurations) {
    DeviceRun run(operations.graph, configuration.options(), passes);
    run.take(inputs_for(operations.graph, inputs, 1));
    run.run();
    EXPECT_EQ(problem_of(operations, run.results(), run.eager()), "") << configuration.text();
  }
}

class GpuOperations : public Gpu, public testing::WithParamInterface<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, GpuOperations, testing::ValuesIn(kFloating),
                         [](const auto& param) { return std::string(ir::name_of(param.param)); });

TEST_P(GpuOperations, alone_are_right) {
  for (const bool positive : {false, true}) {
    RunSetup inputs;
    choose_domain(positive, inputs);
    expect_values(alone(operations(positive), GetParam(), GetParam()), inputs, {.fusion = false});
  }
}

TEST_P(GpuOperations, in_fused_chains_are_right) {
  for (const bool positive : {false, true}) {
    const OperationGraph chains = in_chains(operations(positive), GetParam());
    // One node where there were up to five.
    EXPECT_LE(passes::run_pipeline(chains.graph, {}).nodes.size(), chains.ops.size());
    RunSetup inputs;
    choose_domain(positive, inputs);
    expect_values(chains, inputs);
  }
}

TEST_P(GpuOperations, behind_products_are_right_fused_and_unfused) {
  RunSetup inputs;
  inputs.integers = true;
  for (const bool fusion : {true, false})
    expect_values(behind_products(pointwise_operations(), GetParam()), inputs, {.fusion = fusion});
}

TEST_P(GpuOperations, of_nan_infinity_and_zeros_give_what_the_reference_says) {
  RunSetup inputs;
  inputs.specials = true;
  expect_values(alone(pointwise_operations(), GetParam(), GetParam()), inputs, {.fusion = false});
}

TEST_P(GpuOperations, of_integers_and_bool_are_right) {
  for (const DType from : {DType::i64, DType::i32, DType::boolean}) {
    SCOPED_TRACE(ir::name_of(from));
    expect_values(alone(pointwise_operations(), from, GetParam()), {}, {.fusion = false});
  }
}

TEST_P(GpuOperations, of_a_tensor_and_a_scalar_are_right) {
  for (const bool positive : {false, true}) {
    OperationGraph result;
    ir::Builder b;
    for (const ir::Extents& shape : {ir::Extents{20, 136}, ir::Extents{5, 33}}) {
      const ir::Handle x = b.input("x", GetParam(), shape);
      for (const PointwiseOp op : operations(positive)) {
        if (arity_of(op) != 2) continue;
        b.output(b.pointwise(op, x, 0.3));
        result.ops.push_back(op);
        result.tolerances.push_back(tolerance_of(op, GetParam()));
      }
    }
    result.graph = b.build();
    RunSetup inputs;
    choose_domain(positive, inputs);
    expect_values(result, inputs);
  }
}

}  // namespace
}  // namespace megakittens::test
