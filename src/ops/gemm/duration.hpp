// How long products may keep those waiting that depend on them.
#pragma once

#include "program/program.hpp"

namespace megakittens::ops::gemm {

/// Clocks in which an SM works off its share of the program's products, even where they go much slower than they
/// should, and two of the longest more. A product is one instruction a tile, however long its K: a wait behind it is no
/// fault.
std::uint64_t most_clocks(const program::Program& program);

}  // namespace megakittens::ops::gemm
