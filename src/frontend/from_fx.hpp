// From PyTorch's FX graph to ours.
#pragma once

#include "frontend/fx/module.hpp"
#include "ir/graph.hpp"

namespace megakittens::frontend {

/// Prunes what no result needs, folds views into edges, turns functional updates back into writes in place, and
/// resolves each call; a call that no resolver takes becomes an opaque node whose attribute "why" says what stood in
/// the way. The graph's metadata "fx" is JSON: {"inputs": [placeholder of each graph input], "outputs": what the
/// function returns, nested, where {"output": k} is graph output k, "static": [graph inputs that are parameters or
/// buffers]}. Throws UnsupportedError for a dtype or rank that we have not, and where a result that is not kept is
/// used.
ir::Graph from_fx(const fx::Module& module);

}  // namespace megakittens::frontend
