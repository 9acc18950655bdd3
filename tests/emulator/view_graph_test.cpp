// Shapes, views and alignments through scheduler and interpreter.
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "support/graphs.hpp"
#include "support/run_graph.hpp"
#include "support/view_graphs.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Handle;
using ir::PointwiseOp;

constexpr DType kTypes[] = {DType::bf16, DType::f16, DType::f32};

TEST(ViewGraph, operands_broadcast_as_rows_columns_scalars_and_leading_dimensions) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(broadcast_operands(dtype), small_machine()), "") << ir::name_of(dtype);
}

TEST(ViewGraph, two_broadcast_operands_span_a_larger_result) {
  EXPECT_EQ(run_and_compare(two_broadcast_operands_of_a_larger_result(), small_machine()), "");
}

TEST(ViewGraph, sizes_of_zero_and_one_and_odd_sizes_are_right) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(odd_and_empty_sizes(dtype), small_machine()), "") << ir::name_of(dtype);
}

TEST(ViewGraph, ranks_up_to_eight_are_merged) {
  EXPECT_EQ(run_and_compare(eight_dimensions(), small_machine()), "");
}

TEST(ViewGraph, misaligned_inputs_take_another_path_to_the_same_result) {
  for (DType dtype : kTypes) {
    for (int shift : {1, 3, 4}) {
      ir::Builder b;
      Handle x = b.input("x", dtype, {20, 136}), y = b.input("y", dtype, {20, 136}), row = b.input("row", dtype, {136});
      Handle mask = b.input("mask", DType::boolean, {20, 136});
      Handle changed = b.input("changed", dtype, {20, 136});
      b.output(b.add(b.mul(x, y), row));
      b.output(b.pointwise(PointwiseOp::where, {mask, x, row}));
      b.output(b.assign(changed, x));
      RunSetup setup = small_machine();
      setup.misaligned = shift;
      EXPECT_EQ(run_and_compare(b.build(), setup), "") << ir::name_of(dtype) << " " << shift;
    }
  }
}

TEST(ViewGraph, slices_steps_selects_transposes_and_expansions_are_read_where_they_lie) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(slices_and_transposes(dtype), small_machine()), "") << ir::name_of(dtype);
}

TEST(ViewGraph, rows_that_overlap_are_read_where_they_lie) {
  RunSetup setup = small_machine();
  for (setup.run.seed = 1; setup.run.seed <= 20; ++setup.run.seed)
    EXPECT_EQ(run_and_compare(overlapping_rows(), setup), "") << "seed " << setup.run.seed;
}

TEST(ViewGraph, inputs_with_strides_of_their_own_are_read_through_them) {
  EXPECT_EQ(run_and_compare(inputs_with_strides(), small_machine()), "");
}

TEST(ViewGraph, updates_in_place_change_what_the_view_shows_and_nothing_else) {
  for (DType dtype : kTypes)
    EXPECT_EQ(run_and_compare(updates_in_place(dtype), small_machine()), "") << ir::name_of(dtype);
}

TEST(ViewGraph, what_lies_beside_a_written_slice_stays) {
  for (const DType dtype : {DType::bf16, DType::f32})
    EXPECT_EQ(run_and_compare(test::written_slice(dtype), small_machine()), "") << ir::name_of(dtype);
}

TEST(ViewGraph, an_update_of_a_computed_tensor_is_seen_by_later_readers_only) {
  EXPECT_EQ(run_and_compare(update_of_a_computed_tensor(), small_machine()), "");
}

TEST(ViewGraph, an_update_from_a_shifted_part_of_itself_reads_the_old_values) {
  EXPECT_EQ(run_and_compare(update_from_a_shifted_part_of_itself(), small_machine()), "");
}

TEST(ViewGraph, tensors_without_dimensions_are_read_and_written_in_order) {
  for (bool fusion : {false, true}) {
    RunSetup setup = small_machine();
    setup.passes.fusion = fusion;
    EXPECT_EQ(run_and_compare(scalars_in_place(), setup), "");
  }
}

TEST(ViewGraph, more_than_256_tensors_are_kept_apart) {
  EXPECT_EQ(run_and_compare(many_tensors(), small_machine()), "");
}

}  // namespace
}  // namespace megakittens::test
