// Elementwise operations join the node that feeds them.
#pragma once

#include "passes/pipeline.hpp"

namespace megakittens::passes {

/// Needs a verified graph. Guarantees: a pointwise node whose operand is the whole, otherwise unused result of a
/// pointwise node or a matrix product has become part of that node's body, as far as an instruction's operands,
/// temporaries and byte code reach and no write in between would be passed over. With eager numerics intermediates are
/// rounded as if they had been stored. Stands first: later passes see one node where one instruction will be.
ir::Graph fuse_pointwise(const ir::Graph& graph, Numerics numerics);

}  // namespace megakittens::passes
