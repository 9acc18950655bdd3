// From PyTorch's FX graph to ours.
#pragma once

#include "frontend/fx/module.hpp"
#include "ir/graph.hpp"

namespace megakittens::frontend {

struct Captured {
  ir::Graph graph;
  /// JSON: {"inputs": [placeholder of each graph input], "outputs": what the function returns, nested, where
  /// {"output": k} is graph output k, "static": [graph inputs that are parameters or buffers]}.
  std::string layout;
};

/// Prunes what no result needs, folds views into edges, turns functional updates back into writes in place, and
/// resolves each call; what no resolver takes becomes a node of family call with the reason. Throws UnsupportedError
/// for a dtype or rank that we have not, and where a result that is not kept is used.
Captured from_fx(const fx::Module& module);

}  // namespace megakittens::frontend
