// Matrix products through scheduler and interpreter: every layout, size and type, and what their epilogues compute.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/builder.hpp"
#include "support/graphs.hpp"
#include "support/product_graphs.hpp"
#include "support/run_graph.hpp"
#include "support/tiled_products.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Handle;
using ir::PointwiseOp;

constexpr DType kTypes[] = {DType::bf16, DType::f16, DType::f32};

std::string compare_products(DType dtype, const ProductSize& size, RunSetup setup = small_machine()) {
  return run_and_compare(products_in_all_layouts(dtype, size), setup, product_tolerance(dtype, size.k));
}

TEST(GemmGraph, every_transposition_and_every_tail_agrees_with_the_reference) {
  for (DType dtype : kTypes)
    for (const ProductSize& size :
         {ProductSize{136, 264, 72}, ProductSize{128, 256, 64}, ProductSize{8, 8, 8}, ProductSize{1, 24, 200}})
      EXPECT_EQ(compare_products(dtype, size), "")
          << ir::name_of(dtype) << " " << size.m << " " << size.n << " " << size.k;
}

// Sums of whole numbers are exact in any order: no tolerance.
TEST(GemmGraph, every_tile_and_two_of_them_in_one_product_agree_with_the_reference) {
  for (const TiledProduct& product : tiled_products())
    for (DType dtype : {DType::bf16, DType::f16})
      for (bool turned : {false, true}) {
        RunSetup setup = small_machine();
        setup.schedule.config.sms = product.sms;
        setup.schedule.config.cluster = 2;
        setup.schedule.tile = product.asked;
        setup.integers = true;
        GraphRun run(graph_of(product, dtype, turned), setup);
        EXPECT_EQ(tiles_of(run.program()), product.tiles) << product.text();
        EXPECT_EQ(problem_of(run.launch(), {}), "") << product.text() << " " << ir::name_of(dtype) << turned;
      }
}

TEST(GemmGraph, batches_in_two_tiles_agree_with_the_reference) {
  RunSetup setup = small_machine();
  setup.schedule.config.sms = 3;
  setup.integers = true;
  GraphRun run(batches_in_two_tiles(), setup);
  EXPECT_EQ(tiles_of(run.program()).size(), 2U);
  EXPECT_EQ(problem_of(run.launch(), {}), "");
}

TEST(GemmGraph, odd_sizes_and_a_depth_of_one_or_1001_take_any_road) {
  for (DType dtype : kTypes)
    for (const ProductSize& size : {ProductSize{3, 5, 1001}, ProductSize{7, 130, 1}, ProductSize{131, 3, 65},
                                    ProductSize{1, 1, 1}, ProductSize{40, 33, 257}})
      EXPECT_EQ(compare_products(dtype, size), "")
          << ir::name_of(dtype) << " " << size.m << " " << size.n << " " << size.k;
}

TEST(GemmGraph, sizes_of_zero_give_zeros_or_nothing) {
  for (DType dtype : kTypes) {
    for (const ProductSize& size : {ProductSize{0, 8, 8}, ProductSize{8, 0, 8}, ProductSize{9, 17, 0}})
      EXPECT_EQ(compare_products(dtype, size), "") << ir::name_of(dtype);
    EXPECT_EQ(run_and_compare(a_bias_alone(dtype), small_machine()), "") << ir::name_of(dtype);
  }
}

TEST(GemmGraph, batches_broadcast_on_either_side) {
  for (DType dtype : kTypes)
    for (bool odd : {false, true})
      EXPECT_EQ(run_and_compare(broadcast_batches(dtype, odd), small_machine(), product_tolerance(dtype, 72)), "")
          << ir::name_of(dtype) << " " << odd;
}

TEST(GemmGraph, sliced_operands_are_read_where_they_lie) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(sliced_operands(dtype), small_machine(), product_tolerance(dtype, 72)), "")
        << ir::name_of(dtype);
}

TEST(GemmGraph, a_transpose_of_a_transpose_is_the_matrix_itself) {
  EXPECT_EQ(run_and_compare(transposes_of_transposes(), small_machine(), product_tolerance(DType::bf16, 64)), "");
}

TEST(GemmGraph, transpose_folded_blindly) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(permuted_batches(dtype), small_machine(), product_tolerance(dtype, 40)), "")
        << ir::name_of(dtype);
}

TEST(GemmGraph, misaligned_inputs_give_the_same_products) {
  for (DType dtype : kTypes) {
    RunSetup setup = small_machine();
    setup.misaligned = 1;
    EXPECT_EQ(compare_products(dtype, {24, 40, 72}, setup), "") << ir::name_of(dtype);
  }
}

TEST(GemmGraph, f32_products_are_fused_multiply_adds_in_the_order_of_k) {
  constexpr std::int64_t kM = 5, kN = 130, kK = 333;
  ir::Builder b;
  Handle left = b.input("a", DType::f32, {kM, kK});
  b.output(b.matmul(left, b.input("b", DType::f32, {kK, kN})));
  GraphRun run(b.build(), small_machine());
  const RunResult result = run.launch();
  ASSERT_TRUE(result.report.ok()) << result.report.text();
  for (std::int64_t m = 0; m < kM; ++m)
    for (std::int64_t n = 0; n < kN; ++n) {
      float sum = 0;
      for (std::int64_t k = 0; k < kK; ++k)
        sum = std::fmaf(result.inputs[0][m * kK + k], result.inputs[1][k * kN + n], sum);
      ASSERT_EQ(result.outputs[0][m * kN + n], sum) << m << " " << n;
    }
}

// What is written behind a product: each result is an output, each fits the product's epilogue.
ir::Graph with_epilogues(DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
  ir::Builder b;
  Handle x = b.input("x", dtype, {m, k}), w = b.input("w", dtype, {k, n});
  Handle bias = b.input("bias", dtype, {n}), column = b.input("column", dtype, {m, 1});
  Handle residual = b.input("residual", dtype, {m, n}), gate = b.input("gate", dtype, {m, n});
  b.output(b.add(b.matmul(x, w), bias));
  b.output(b.relu(b.add(bias, b.matmul(x, w))));
  b.output(b.add(residual, b.matmul(x, w)));
  b.output(b.mul(b.pointwise(PointwiseOp::silu, {b.matmul(x, w)}), gate));
  b.output(b.pointwise(PointwiseOp::gelu_erf, {b.add(b.matmul(x, w), bias)}));
  b.output(b.pointwise(PointwiseOp::gelu_tanh, {b.matmul(x, w)}));
  b.output(b.pointwise(PointwiseOp::add, b.mul(b.matmul(x, w), column), 0.5));
  b.output(b.pointwise(PointwiseOp::sub, {residual, b.mul(b.pointwise(PointwiseOp::sigmoid, {b.matmul(x, w)}), gate)}));
  b.output(b.cast(b.matmul(x, w), DType::f32));
  Handle whole = b.input("changed", dtype, {m + 3, n});
  b.output(b.assign(seen(whole, whole.view.slice(0, 3, m + 3)), b.add(b.matmul(x, w), residual)));
  return b.build();
}

TEST(GemmGraph, epilogues_with_eager_numerics_equal_the_unfused_program_bit_for_bit) {
  for (DType dtype : kTypes) {
    for (bool odd : {false, true}) {
      ir::Graph graph = odd ? with_epilogues(dtype, 9, 35, 13) : with_epilogues(dtype, 136, 264, 72);
      RunSetup setup = small_machine();
      GraphRun fused(graph, setup);
      setup.passes.fusion = false;
      GraphRun plain(graph, setup);
      EXPECT_EQ(fused.graph().nodes.size(), 10U) << ir::to_string(fused.graph());
      const RunResult a = fused.launch(), c = plain.launch();
      // A product's last bit may differ from the reference's, and what follows may enlarge it by little.
      Tolerance few = units_of(dtype, 4);
      few.absolute = std::max(4 * few.relative, 1e-4F);
      EXPECT_EQ(problem_of(a, few), "") << ir::name_of(dtype) << odd;
      EXPECT_EQ(problem_of(c, few), "") << ir::name_of(dtype) << odd;
      EXPECT_EQ(difference(a.outputs, c.outputs), "") << ir::name_of(dtype) << odd;
      EXPECT_EQ(difference(a.inputs, c.inputs), "") << ir::name_of(dtype) << odd;
    }
  }
}

TEST(GemmGraph, every_tile_that_is_asked_for_runs_every_layout_epilogue_and_chain) {
  for (const std::string& tile : hopper_tiles())
    for (DType dtype : {DType::bf16, DType::f16})
      for (std::uint64_t seed = 1; seed <= 2; ++seed) {
        RunSetup setup = small_machine();
        setup.schedule.tile = tile;
        setup.run.seed = seed;
        EXPECT_EQ(compare_products(dtype, {200, 328, 392}, setup), "") << tile;
        Tolerance few = units_of(dtype, 4);
        few.absolute = std::max(4 * few.relative, 1e-4F);
        GraphRun epilogues(with_epilogues(dtype, 136, 264, 72), setup);
        EXPECT_EQ(tiles_of(epilogues.program()), std::set<std::string>{tile});
        EXPECT_EQ(problem_of(epilogues.launch(), few), "") << tile << ", seed " << seed;
        if (dtype != DType::bf16) continue;
        setup.low = -0.25F;
        setup.high = 0.25F;
        GraphRun chain(mlp(256, 384, 3), setup);
        EXPECT_EQ(tiles_of(chain.program()), std::set<std::string>{tile});
        EXPECT_EQ(problem_of(chain.launch(), {.absolute = 2e-2F, .relative = 2e-2F}), "") << tile << ", seed " << seed;
      }
}

/// gelu(x @ w + bias) as PyTorch's linear layers have it: the bias is added to fp32 sums, which are rounded once.
ir::Graph linear_and_gelu(DType dtype, const ProductSize& size, bool matrix) {
  ir::Builder b;
  const Handle x = b.input("x", dtype, {size.m, size.k}), w = b.input("w", dtype, {size.k, size.n});
  const Handle bias = b.input("bias", dtype, matrix ? ir::Extents{size.m, size.n} : ir::Extents{size.n});
  b.output(b.pointwise(PointwiseOp::gelu_tanh, {b.matmul(x, w)}));
  ir::Graph graph = b.build();
  ir::Node& product = graph.nodes[0];
  product.operands.push_back({bias.value, bias.view.broadcast_to({size.m, size.n})});
  product.body = ir::PointwiseBody{
      .steps = {{PointwiseOp::add, {ir::Ref::accumulator(), ir::Ref::operand(2)}, DType::f32}}, .results = {0}};
  return graph;
}

TEST(GemmGraph, a_bias_is_added_before_sums_are_rounded_in_every_tile) {
  for (const std::string& tile : hopper_tiles())
    for (DType dtype : {DType::bf16, DType::f16})
      for (const ProductSize& size : {ProductSize{136, 264, 72}, ProductSize{100, 200, 64}})
        for (bool matrix : {false, true}) {
          RunSetup setup = small_machine();
          setup.schedule.tile = tile;
          GraphRun run(linear_and_gelu(dtype, size, matrix), setup);
          EXPECT_EQ(run.graph().nodes.size(), 1U) << ir::to_string(run.graph());
          // Wide tiles take a row; sums that stay fp32 need room that they have not.
          const bool narrow = tile == "gemm_divided" || tile == "gemm_narrow";
          EXPECT_EQ(tiles_of(run.program()).contains(tile), narrow || !matrix) << tile << matrix;
          Tolerance few = units_of(dtype, 4);
          few.absolute = std::max(4 * few.relative, 1e-4F);
          EXPECT_EQ(problem_of(run.launch(), few), "") << tile << ir::name_of(dtype) << size.n << matrix;
        }
}

TEST(GemmGraph, a_bias_of_odd_length_or_base_is_added_before_sums_are_rounded) {
  for (DType dtype : kTypes)
    for (int misaligned : {0, 1}) {
      RunSetup setup = small_machine();
      setup.misaligned = misaligned;
      Tolerance few = units_of(dtype, 4);
      few.absolute = std::max(4 * few.relative, 1e-4F);
      EXPECT_EQ(run_and_compare(linear_and_gelu(dtype, {131, 35, 13}, false), setup, few), "")
          << ir::name_of(dtype) << misaligned;
    }
}

TEST(GemmGraph, an_epilogue_waits_for_an_operand_that_alone_depends_on_others) {
  const std::tuple<unsigned, int, const char*> cases[] = {
      {1, 256, "gemm"}, {1, 128, "gemm_medium"}, {2, 128, "gemm_divided"}, {16, 64, "gemm_narrow"}};
  for (const auto& [sms, columns, tile] : cases) {
    ir::Builder b;
    Handle late = b.mul(b.input("p", DType::bf16, {128, columns}), b.input("q", DType::bf16, {128, columns}));
    Handle product = b.matmul(b.input("a", DType::bf16, {128, 256}), b.input("w", DType::bf16, {256, columns}));
    b.output(b.relu(b.add(product, late)));
    const ir::Graph graph = b.build();
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      RunSetup setup = small_machine();
      setup.schedule.config.sms = sms;
      setup.run.seed = seed;
      GraphRun run(graph, setup);
      EXPECT_EQ(tiles_of(run.program()), std::set<std::string>{tile});
      EXPECT_EQ(problem_of(run.launch(), product_tolerance(DType::bf16, 256)), "") << tile << ", seed " << seed;
    }
  }
}

TEST(GemmGraph, the_mlp_has_a_node_a_layer_and_the_bits_of_the_unfused_one) {
  const ir::Graph graph = mlp(256, 256, 3);
  for (program::QueueMode queue : {program::QueueMode::per_sm, program::QueueMode::global}) {
    RunSetup setup = small_machine();
    setup.schedule.config.queue = queue;
    setup.low = -0.25F;
    setup.high = 0.25F;
    GraphRun fused(graph, setup);
    EXPECT_EQ(fused.graph().nodes.size(), 3U);
    setup.passes.fusion = false;
    GraphRun plain(graph, setup);
    const RunResult a = fused.launch(), c = plain.launch();
    EXPECT_EQ(problem_of(a, {.absolute = 2e-2F, .relative = 2e-2F}), "");
    EXPECT_TRUE(c.report.ok()) << c.report.text();
    EXPECT_EQ(difference(a.outputs, c.outputs), "");
  }
}

}  // namespace
}  // namespace megakittens::test
