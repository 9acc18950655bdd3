// Graphs that several tests and benchmarks use.
#pragma once

#include "ir/builder.hpp"

namespace megakittens::test {

/// x = relu(x @ W[i] + b[i]) for each layer, bf16; inputs W [layers, h, h], x [m, h], b [layers, m, h] in this order.
ir::Graph mlp(std::int64_t m, std::int64_t h, int layers);

}  // namespace megakittens::test
