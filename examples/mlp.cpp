// x = relu(x @ W[i] + b[i]), three layers, built, scheduled and run on the emulated machine, then compared with plain
// loops. Usage: mlp [size], 256 unless given.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <megakittens/megakittens.hpp>

namespace mk = megakittens;

constexpr int kLayers = 3;

static mk::Graph build(std::int64_t size) {
  mk::Builder builder("mlp");
  const mk::Expression weights = builder.input("W", mk::DType::bf16, {kLayers, size, size});
  mk::Expression x = builder.input("x", mk::DType::bf16, {size, size});
  const mk::Expression b = builder.input("b", mk::DType::bf16, {kLayers, size, size});
  for (int i = 0; i < kLayers; ++i) x = mk::relu(mk::matmul(x, weights.select(0, i)) + b.select(0, i));
  builder.output(x);
  return builder.build();
}

static float round_to_bf16(float value) {
  return mk::HostTensor::from_floats(mk::DType::bf16, {1}, {&value, 1}).to_floats()[0];
}

static std::vector<float> plain(const std::vector<float>& weights, std::vector<float> x, const std::vector<float>& b,
                                std::size_t n) {
  for (std::size_t layer = 0; layer < kLayers; ++layer) {
    std::vector<float> next(n * n);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t j = 0; j < n; ++j) next[i * n + j] += x[i * n + k] * weights[(layer * n + k) * n + j];
      for (std::size_t j = 0; j < n; ++j)
        next[i * n + j] = round_to_bf16(std::max(next[i * n + j] + b[(layer * n + i) * n + j], 0.0f));
    }
    x = next;
  }
  return x;
}

int main(int argc, char** argv) try {
  const long size = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 256;
  if (size < 1) {
    std::cerr << "usage: mlp [size], a number of at least 1\n";
    return 2;
  }
  const mk::Graph graph = build(size);
  const mk::Program program = graph.schedule();
  std::cout << graph.to_string() << program.instruction_count() << " instructions, " << program.counter_count()
            << " counters\n";

  const float scale = std::sqrt(3.0f / static_cast<float>(size));  // keeps the size of what passes through
  const auto weights = mk::HostTensor::random(mk::DType::bf16, {kLayers, size, size}, 1, scale);
  const auto x = mk::HostTensor::random(mk::DType::bf16, {size, size}, 2);
  const auto b = mk::HostTensor::random(mk::DType::bf16, {kLayers, size, size}, 3);
  const mk::RunResult result = program.run({weights, x, b});

  const std::vector<float> got = result.outputs[0].to_floats();
  const std::vector<float> want =
      plain(weights.to_floats(), x.to_floats(), b.to_floats(), static_cast<std::size_t>(size));
  float largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) largest = std::max(largest, std::abs(got[i] - want[i]));
  std::cout << result.seconds << " s on the emulator, largest error " << largest << '\n';
  return largest < 0.1f ? 0 : 1;
} catch (const mk::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
