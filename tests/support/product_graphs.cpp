#include "support/product_graphs.hpp"

#include <fmt/format.h>

#include "support/graphs.hpp"

namespace megakittens::test {

using ir::Builder;
using ir::DType;
using ir::Extents;
using ir::Handle;
using ir::PointwiseOp;

namespace {

Handle transposed(const Handle& x) {
  return seen(x, x.view.transpose(-1, -2));
}

/// An input that shows [rows, columns], stored as it is or transposed.
Handle matrix(Builder& b, DType dtype, std::int64_t rows, std::int64_t columns, bool turned) {
  return turned ? transposed(b.input("t", dtype, {columns, rows})) : b.input("m", dtype, {rows, columns});
}

}  // namespace

ir::Graph products_in_all_layouts(DType dtype, const ProductSize& size) {
  Builder b;
  for (bool turn_a : {false, true})
    for (bool turn_b : {false, true})
      b.output(b.matmul(matrix(b, dtype, size.m, size.k, turn_a), matrix(b, dtype, size.k, size.n, turn_b)));
  return b.build();
}

ir::Graph a_bias_alone(DType dtype) {
  Builder b;
  Handle empty = b.matmul(b.input("a", dtype, {40, 0}), b.input("b", dtype, {0, 136}));
  b.output(b.add(empty, b.input("bias", dtype, {136})));
  return b.build();
}

ir::Graph broadcast_batches(DType dtype, bool odd) {
  const std::pair<Extents, Extents> batches[] = {{{3}, {3}}, {{3}, {1}}, {{}, {3}}, {{2, 1}, {3}}, {{2, 3}, {2, 3}}};
  const std::int64_t m = odd ? 9 : 24, k = odd ? 35 : 72, n = odd ? 11 : 40;
  Builder b;
  for (auto [left, right] : batches) {
    Extents turned = right;
    left.insert(left.end(), {m, k});
    right.insert(right.end(), {k, n});
    turned.insert(turned.end(), {n, k});
    Handle a = b.input("a", dtype, left);
    b.output(b.matmul(a, b.input("b", dtype, right)));
    b.output(b.matmul(a, transposed(b.input("t", dtype, turned))));
  }
  return b.build();
}

ir::Graph sliced_operands(DType dtype) {
  Builder b;
  Handle x = b.input("x", dtype, {4, 150, 160});
  Handle a = seen(x, x.view.select(0, 1).slice(0, 3, 133).slice(1, 8, 80));
  Handle n_major = seen(x, x.view.select(0, 2).slice(0, 0, 72).slice(1, 16, 152));
  Handle k_major = transposed(seen(x, x.view.select(0, 3).slice(0, 1, 150, 2).slice(1, 8, 80)));
  Handle crooked = seen(x, x.view.select(1, 5).slice(1, 3, 75).transpose(0, 1));
  Handle stepped = seen(x, x.view.select(0, 0).slice(1, 0, 144, 2));
  b.output(b.matmul(a, n_major));
  b.output(b.matmul(a, k_major));
  b.output(b.matmul(a, crooked));
  b.output(b.matmul(stepped, n_major));
  b.output(b.matmul(transposed(n_major), transposed(a)));
  // Of so few elements no row holds 16 bytes.
  Handle tiny = seen(x, x.view.select(0, 0).slice(0, 1, 3).slice(1, 0, 10, 5).transpose(0, 1));
  b.output(b.matmul(tiny, seen(x, x.view.select(0, 1).slice(0, 0, 2).slice(1, 0, 64))));
  return b.build();
}

ir::Graph permuted_batches(DType dtype) {
  Builder b;
  Handle x = b.input("x", dtype, {24, 40, 32}), w = b.input("w", dtype, {32, 24, 40});
  b.output(b.matmul(seen(x, x.view.permute({1, 0, 2})), seen(w, w.view.permute({2, 0, 1}))));
  b.output(b.matmul(seen(x, x.view.permute({2, 1, 0})), seen(w, w.view.permute({0, 1, 2}))));
  b.output(b.matmul(seen(x, x.view.permute({1, 2, 0})), seen(w, w.view.permute({2, 1, 0}))));
  return b.build();
}

ir::Graph transposes_of_transposes() {
  Builder b;
  Handle a = b.input("a", DType::bf16, {40, 64}), w = b.input("w", DType::bf16, {64, 72});
  b.output(b.matmul(a, transposed(transposed(w))));
  b.output(b.matmul(transposed(transposed(a)), w));
  return b.build();
}

ir::Graph batches_in_two_tiles() {
  Builder b;
  b.output(b.matmul(b.input("a", DType::bf16, {2, 520, 520}), b.input("b", DType::bf16, {2, 520, 136})));
  return b.build();
}

ir::Graph mixture() {
  Builder b;
  Handle x = b.input("x", DType::bf16, {264, 136}), w = b.input("w", DType::bf16, {136, 136});
  Handle cache = b.input("cache", DType::bf16, {400, 136});
  Handle h = b.relu(b.matmul(x, w));
  Handle g = b.mul(h, x);
  Handle updated = b.assign(seen(cache, cache.view.slice(0, 7, 271)), g);
  Handle odd = b.relu(seen(updated, updated.view.slice(0, 1, 300, 3).slice(1, 1, 130)));
  Handle y = b.add(b.matmul(seen(updated, updated.view.slice(0, 0, 264)), w), h);
  b.output(b.add(y, b.matmul(g, transposed(w))));
  b.output(odd);
  return b.build();
}

ir::Graph many_writers() {
  Builder b;
  Handle t = b.relu(b.input("x", DType::bf16, {24, 40}));
  for (int i = 0; i < 20; ++i) {
    Handle part = b.pointwise(PointwiseOp::mul, b.input("part", DType::bf16, {40}), i + 1);
    t = b.assign(seen(t, t.view.select(0, i)), part);
  }
  b.output(b.relu(t));
  for (int i = 1; i < 20; ++i) b.output(b.relu(seen(t, t.view.slice(0, 0, i + 1))));
  return b.build();
}

std::vector<NamedGraph> product_graphs() {
  std::vector<NamedGraph> all;
  for (const DType dtype : {DType::bf16, DType::f16, DType::f32}) {
    const auto add = [&](const char* name, ir::Graph graph) {
      all.push_back({fmt::format("{}_{}", name, ir::name_of(dtype)), std::move(graph)});
    };
    add("tails", products_in_all_layouts(dtype, {136, 264, 72}));
    add("one_row", products_in_all_layouts(dtype, {1, 24, 200}));
    add("odd_sizes", products_in_all_layouts(dtype, {40, 33, 257}));
    add("a_depth_of_one", products_in_all_layouts(dtype, {7, 130, 1}));
    add("no_depth", products_in_all_layouts(dtype, {9, 17, 0}));
    add("no_rows", products_in_all_layouts(dtype, {0, 8, 8}));
    add("a_bias_alone", a_bias_alone(dtype));
    add("broadcast_batches", broadcast_batches(dtype, false));
    add("odd_broadcast_batches", broadcast_batches(dtype, true));
    add("sliced_operands", sliced_operands(dtype));
    add("permuted_batches", permuted_batches(dtype));
  }
  all.push_back({"transposes_of_transposes", transposes_of_transposes()});
  all.push_back({"batches_in_two_tiles", batches_in_two_tiles()});
  all.push_back({"mixture", mixture()});
  all.push_back({"many_writers", many_writers()});
  return all;
}

}  // namespace megakittens::test
