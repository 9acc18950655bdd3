#include "support/graphs.hpp"

#include <fmt/format.h>

namespace megakittens::test {

ir::Graph mlp(std::int64_t m, std::int64_t h, int layers) {
  ir::Builder builder("mlp");
  ir::Handle weights = builder.input("W", ir::DType::bf16, {layers, h, h});
  ir::Handle x = builder.input("x", ir::DType::bf16, {m, h});
  ir::Handle biases = builder.input("b", ir::DType::bf16, {layers, m, h});
  auto layer = [](const ir::Handle& all, int i) { return ir::Handle{all.value, all.view.select(0, i)}; };
  for (int i = 0; i < layers; ++i) {
    const std::string source = fmt::format("mlp.py:5 in forward, layer {}", i);
    builder.at(fmt::format("gemm{}", i + 1), source);
    ir::Handle product = builder.matmul(x, layer(weights, i));
    builder.at(fmt::format("add{}", i + 1), source);
    ir::Handle sum = builder.add(product, layer(biases, i));
    builder.at(fmt::format("relu{}", i + 1), source);
    x = builder.relu(sum);
  }
  builder.output(x);
  return builder.build();
}

namespace {

ir::Handle decoder_layer(ir::Builder& builder, const ir::Handle& x, const TransformerShape& shape, int layer) {
  auto weight = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    return builder.input(fmt::format("{}{}", name, layer), ir::DType::bf16, {rows, columns});
  };
  const std::int64_t width = shape.width;
  const std::int64_t hidden = shape.hidden;
  auto scale = [&](const ir::Handle& value, const char* name) {
    ir::Handle vector = builder.input(fmt::format("{}{}", name, layer), ir::DType::bf16, {width});
    return builder.mul(value, {vector.value, vector.view.broadcast_to({shape.tokens, width})});
  };
  auto silu = [&](const ir::Handle& value) { return builder.pointwise(ir::PointwiseOp::silu, {value}); };
  const ir::Handle normed = scale(x, "norm_a");
  const ir::Handle q = builder.matmul(normed, weight("wq", width, width));
  const ir::Handle k = builder.matmul(normed, weight("wk", width, width));
  const ir::Handle v = builder.matmul(normed, weight("wv", width, width));
  const ir::Handle mixed = builder.mul(builder.mul(silu(q), k), v);
  const ir::Handle attended = builder.add(x, builder.matmul(mixed, weight("wo", width, width)));
  const ir::Handle again = scale(attended, "norm_b");
  const ir::Handle gate = silu(builder.matmul(again, weight("gate", width, hidden)));
  const ir::Handle up = builder.matmul(again, weight("up", width, hidden));
  return builder.add(attended, builder.matmul(builder.mul(gate, up), weight("down", hidden, width)));
}

}  // namespace

ir::Graph transformer(const TransformerShape& shape) {
  ir::Builder builder("transformer");
  ir::Handle x = builder.input("x", ir::DType::bf16, {shape.tokens, shape.width});
  for (int layer = 0; layer < shape.layers; ++layer) {
    builder.at(fmt::format("layer{}", layer), fmt::format("model.py:{}", layer));
    x = decoder_layer(builder, x, shape, layer);
  }
  builder.output(x);
  return builder.build();
}

ir::Graph written_slice(ir::DType dtype) {
  ir::Builder builder("written_slice");
  const ir::Handle x = builder.input("x", dtype, {96, 640}), y = builder.input("y", dtype, {96, 512});
  const ir::Handle read{y.value, y.view.slice(1, 0, 301)};
  builder.output(builder.assign({x.value, x.view.slice(1, 8, 309)}, builder.mul(read, read)));
  return builder.build();
}

}  // namespace megakittens::test
