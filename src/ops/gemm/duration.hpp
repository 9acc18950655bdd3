// How long products may keep those waiting that depend on them.
#pragma once

#include "program/program.hpp"

namespace megakittens::ops::gemm {

/// Clocks of a product's instruction even where it goes much slower than it should. It is one instruction a tile,
/// however long its K: a wait behind it is no fault.
std::uint64_t clocks_of(const program::NodeRecord& record, std::uint16_t icode);

}  // namespace megakittens::ops::gemm
