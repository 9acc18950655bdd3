// What passes share: who reads and writes each value, and graphs with some nodes left out or replaced.
#pragma once

#include <optional>
#include <vector>

#include "passes/pipeline.hpp"

namespace megakittens::passes {

struct Uses {
  std::vector<std::vector<int>> readers;  ///< nodes that read a value, ascending
  std::vector<bool> returned;             ///< an output of the graph shows the value
  std::vector<std::vector<int>> writers;  ///< nodes that write into the storage of a root value, ascending

  explicit Uses(const ir::Graph& graph);
  /// No node makes a new version of the value's storage after it, and it is no new version itself.
  bool is_written_once(const ir::Graph& graph, ir::ValueId id) const;
  /// A node after `from`, up to and with `to`, writes into the storage of the value.
  bool is_written_between(const ir::Graph& graph, ir::ValueId id, int from, int to) const;
};

/// What `outer`, a view of a dense tensor that holds `inner`'s elements in row-major order, shows of the storage that
/// `inner` shows; empty where that is no view of ours.
std::optional<ir::View> composed(const ir::View& outer, const ir::View& inner);

/// A node of the list that is being rewritten; empty where it was dropped.
using Nodes = std::vector<std::optional<ir::Node>>;
Nodes nodes_of(const ir::Graph& graph);

/// The graph with `nodes[n]` in place of node n, and without those that are empty. Values that no remaining node makes
/// are dropped and the others numbered anew, in the order of the nodes.
ir::Graph rebuild(const ir::Graph& graph, const Nodes& nodes);

/// The same without nodes that nothing needs: neither a node, nor an output, nor the caller's memory.
ir::Graph rebuild_live(const ir::Graph& graph, Nodes nodes);

/// The name of the first instruction type that takes the node; empty where none does.
std::string_view type_of(const ir::Graph& graph, const ir::Node& node, const Options& options);

}  // namespace megakittens::passes
