// Frequent runs of byte code become one word, so that the device dispatches once for them.
#pragma once

#include <vector>

#include "program/node_record.hpp"

namespace megakittens::ops {

/// Replaces runs by the superinstructions of program::CodeOp. The result computes the same bits.
void combine_superinstructions(std::vector<program::CodeWord>& words);

}  // namespace megakittens::ops
