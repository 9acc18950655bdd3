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

}  // namespace megakittens::test
