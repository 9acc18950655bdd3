// The written spec of a graph: a table of rules, each with a name, a sentence, and the function that checks it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ir/graph.hpp"

namespace megakittens::ir {

/// `check` returns an empty string where the rule holds, else what breaks it, naming the value or node.
/// A rule may rely on those before it in the table.
struct Rule {
  std::string_view name;
  std::string_view sentence;
  std::string (*check)(const Graph& graph);
};

/// In the order in which verify() checks them: structure first, then operations (ir/spec_ops.cpp).
std::span<const Rule> structure_rules();
std::span<const Rule> operation_rules();

}  // namespace megakittens::ir
