// Graphs with some nodes left out or replaced.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.hpp"

namespace megakittens::passes {

/// The graph with `nodes[n]` in place of node n, and without those that are empty. Values that no remaining node makes
/// are dropped and the others numbered anew, in the order of the nodes.
ir::Graph rebuild(const ir::Graph& graph, const std::vector<std::optional<ir::Node>>& nodes);

}  // namespace megakittens::passes
