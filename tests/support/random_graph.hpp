// Random graphs of pointwise operations and products, with views and in-place updates, for property tests.
#pragma once

#include <functional>

#include "ir/builder.hpp"

namespace megakittens::test {

/// A random integer of [low, high).
using Pick = std::function<int(int, int)>;

struct RandomGraphShape {
  int nodes = 8;
  /// Largest extent of a dimension.
  int extent = 300;
  bool products = true;
  bool in_place = true;
  ir::DType dtype = ir::DType::bf16;
  /// Beside relu and add every operation that is exact on small integers, kept small: whatever the order of summation,
  /// integer inputs give one right result.
  bool exact_operations = false;
};

/// Operands are slices (with steps), transposes, broadcasts and reshapes of earlier values; some nodes overwrite a part
/// of an input or of a computed tensor. Every graph is verified.
ir::Graph random_graph(const Pick& pick, const RandomGraphShape& shape);

}  // namespace megakittens::test
