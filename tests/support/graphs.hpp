// Graphs that several tests and benchmarks use.
#pragma once

#include <utility>

#include "ir/builder.hpp"

namespace megakittens::test {

/// The same value through another view.
inline ir::Handle seen(const ir::Handle& handle, ir::View view) {
  return {handle.value, std::move(view)};
}

/// x = relu(x @ W[i] + b[i]) for each layer, bf16; inputs W [layers, h, h], x [m, h], b [layers, m, h] in this order.
ir::Graph mlp(std::int64_t m, std::int64_t h, int layers);

struct TransformerShape {
  std::int64_t tokens = 1024;
  std::int64_t width = 4096;
  std::int64_t hidden = 11008;
  int layers = 1;
};
/// Layers with the products and pointwise operations of a decoder: scaled input, q, k, v, a gated mix in place of
/// attention, output projection, residual, gate, up, silu(gate) * up, down, residual. bf16, weights as inputs.
ir::Graph transformer(const TransformerShape& shape);

/// Writes 301 columns of a wide x [96, 640] in place, from column 8 on: addresses and pitch are multiples of 16 bytes,
/// the written rows are not.
ir::Graph written_slice(ir::DType dtype);

}  // namespace megakittens::test
