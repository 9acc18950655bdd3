#include "support/view_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/graphs.hpp"

namespace megakittens::test {

using ir::DType;
using ir::Extents;
using ir::Handle;
using ir::PointwiseOp;

ir::Graph broadcast_operands(DType dtype) {
  ir::Builder b;
  for (const Extents& shape : {Extents{3, 12, 136}, Extents{2, 3, 5, 33}}) {
    Handle x = b.input("x", dtype, shape);
    Extents row{shape.back()}, column = shape, leading = shape, inner(shape.begin() + 1, shape.end());
    column.back() = 1;
    std::fill(leading.begin() + 1, leading.end(), 1);
    for (const Extents& other : {row, column, leading, inner, Extents{}, Extents{1, 1}}) {
      Handle y = b.input("y", dtype, other);
      b.output(b.add(x, y));
      b.output(b.pointwise(PointwiseOp::sub, {y, x}));
    }
  }
  return b.build();
}

ir::Graph two_broadcast_operands_of_a_larger_result() {
  ir::Builder b;
  b.output(b.mul(b.input("column", DType::bf16, {40, 1}), b.input("row", DType::bf16, {136})));
  b.output(b.mul(b.input("column", DType::f32, {3, 1, 5, 1}), b.input("row", DType::f32, {2, 1, 7})));
  b.output(b.relu(
      seen(b.input("scalar", DType::bf16, {}), ir::View{.offset = 0, .sizes = {}, .strides = {}}.expand({9, 300}))));
  return b.build();
}

ir::Graph odd_and_empty_sizes(DType dtype) {
  const Extents shapes[] = {{},        {1},         {0},       {3, 0},   {0, 136}, {1, 1, 1}, {1, 136},
                            {1, 1000}, {1, 513},    {136, 1},  {129, 1}, {1, 129}, {17, 129}, {2, 4097},
                            {9, 127},  {7, 1, 131}, {2, 0, 3}, {5},      {8200},   {300, 128}};
  ir::Builder b;
  for (const Extents& shape : shapes) {
    Handle x = b.input("x", dtype, shape);
    b.output(b.add(b.relu(x), x));
    b.output(b.pointwise(PointwiseOp::gt, x, 0.0));
  }
  return b.build();
}

ir::Graph eight_dimensions() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {2, 1, 3, 2, 1, 2, 3, 5});
  b.output(b.relu(x));
  b.output(b.add(x, b.input("row", DType::bf16, {3, 5})));
  b.output(b.add(x, b.input("middle", DType::bf16, {3, 2, 1, 1, 1, 1})));
  b.output(b.relu(seen(x, x.view.transpose(0, 7))));
  return b.build();
}

ir::Graph slices_and_transposes(DType dtype) {
  ir::Builder b;
  Handle x = b.input("x", dtype, {6, 40, 150});
  const ir::View& v = x.view;
  for (const ir::View& view :
       {v.slice(2, 8, 144), v.slice(2, 1, 140), v.slice(1, 3, 37, 2), v.slice(2, 0, 150, 3), v.select(0, 5),
        v.select(2, 7), v.transpose(0, 1), v.transpose(1, 2), v.permute({2, 0, 1}).slice(0, 3, 20),
        v.slice(0, 1, 6, 2).slice(1, 4, 40, 3).transpose(0, 2), v.select(1, 2).unsqueeze(1).expand({-1, 9, -1})}) {
    b.output(b.relu(seen(x, view)));
    b.output(b.copy(seen(x, view)));
  }
  return b.build();
}

ir::Graph overlapping_rows() {
  ir::Builder b;
  const Handle x = b.input("x", DType::bf16, {1000}), y = b.input("y", DType::bf16, {40, 136});
  const Handle computed = b.relu(x);
  for (const std::int64_t step : {0, 1, 3, 8})
    for (const Handle& from : {x, computed}) {
      const Handle rows = seen(from, ir::View{.offset = 5, .sizes = {40, 136}, .strides = {step, 1}});
      b.output(b.pointwise(PointwiseOp::neg, {rows}));
      b.output(b.add(y, rows));
    }
  // Rows with gaps between them, several at the same places.
  b.output(b.relu(seen(computed, ir::View{.offset = 1, .sizes = {4, 5, 8}, .strides = {30, 20, 1}})));
  b.output(b.assign(seen(x, x.view.slice(0, 100, 700)), b.input("z", DType::bf16, {600})));
  return b.build();
}

ir::Graph inputs_with_strides() {
  ir::Builder b;
  Handle columns = b.input("columns", {.dtype = DType::bf16, .shape = {136, 24}, .strides = {1, 136}});
  Handle padded = b.input("padded", {.dtype = DType::bf16, .shape = {24, 136}, .strides = {160, 1}});
  b.output(b.add(columns, seen(padded, padded.view.transpose(0, 1))));
  b.output(b.add(padded, seen(columns, columns.view.transpose(0, 1))));
  return b.build();
}

ir::Graph updates_in_place(DType dtype) {
  ir::Builder b;
  Handle x = b.input("x", dtype, {6, 40, 150}), y = b.input("y", dtype, {40, 136});
  Handle first = b.assign(seen(x, x.view.select(0, 2).slice(1, 8, 144)), b.relu(y));
  Handle second = b.assign(seen(first, first.view.slice(1, 1, 40, 3).slice(0, 0, 2)), b.input("s", dtype, {}));
  Handle third = b.assign(seen(second, second.view.select(2, 149)), seen(second, second.view.select(2, 0)));
  b.output(b.relu(seen(third, third.view.slice(0, 1, 4))));
  b.output(third);
  return b.build();
}

ir::Graph update_of_a_computed_tensor() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {32, 256});
  Handle t = b.pointwise(PointwiseOp::add, x, 1.0);
  Handle before = b.mul(t, x);
  Handle after = b.assign(seen(t, t.view.slice(0, 5, 20)), seen(x, x.view.slice(0, 5, 20)));
  b.output(before);
  b.output(b.mul(after, x));
  return b.build();
}

ir::Graph update_from_a_shifted_part_of_itself() {
  ir::Builder b;
  Handle x = b.input("x", DType::bf16, {700, 256});
  Handle shifted = b.copy(seen(x, x.view.slice(0, 0, 699)));
  b.output(b.assign(seen(x, x.view.slice(0, 1, 700)), shifted));
  return b.build();
}

ir::Graph many_tensors() {
  ir::Builder b;
  Handle x = b.input("x", DType::f32, {3, 5});
  std::vector<Handle> all;
  for (int i = 0; i < 270; ++i) all.push_back(b.pointwise(PointwiseOp::add, x, i));
  Handle sum = all[0];
  for (int i = 269; i > 0; i -= 3) sum = b.add(sum, all[i]);
  b.output(sum);
  for (const Handle& one : all) b.output(one);
  return b.build();
}

ir::Graph scalars_in_place() {
  ir::Builder b;
  Handle step = b.input("step", DType::f32, {}), weights = b.input("weights", DType::f32, {12});
  const Handle before = b.mul(weights, step);
  step = b.assign(step, b.pointwise(PointwiseOp::add, step, 1.0));
  weights = b.assign(weights, b.add(before, step));
  step = b.assign(step, b.pointwise(PointwiseOp::mul, step, 2.0));
  b.output(b.add(weights, step));
  b.output(b.pointwise(PointwiseOp::add, step, 0.5));
  return b.build();
}

std::vector<NamedGraph> view_graphs() {
  std::vector<NamedGraph> all;
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    const auto add = [&](const char* name, ir::Graph (*make)(DType)) {
      all.push_back({fmt::format("{}_{}", name, ir::name_of(dtype)), make(dtype)});
    };
    add("broadcast_operands", broadcast_operands);
    add("odd_and_empty_sizes", odd_and_empty_sizes);
    add("slices_and_transposes", slices_and_transposes);
    add("updates_in_place", updates_in_place);
  }
  all.push_back({"two_broadcast_operands", two_broadcast_operands_of_a_larger_result()});
  all.push_back({"eight_dimensions", eight_dimensions()});
  all.push_back({"overlapping_rows", overlapping_rows()});
  all.push_back({"inputs_with_strides", inputs_with_strides()});
  all.push_back({"update_of_a_computed_tensor", update_of_a_computed_tensor()});
  all.push_back({"update_from_a_shifted_part_of_itself", update_from_a_shifted_part_of_itself()});
  all.push_back({"scalars_in_place", scalars_in_place()});
  all.push_back({"many_tensors", many_tensors()});
  return all;
}

}  // namespace megakittens::test
