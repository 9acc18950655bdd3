#include "ops/noop/noop.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace megakittens::ops {

std::vector<Region> Noop::regions(const program::NodeRecord&, const program::Instruction&) const {
  return {};
}

std::optional<std::string> Noop::unsuited(const ir::Graph&, const ir::Node&, const PlanOptions&) const {
  return "noop: takes no node";
}

std::unique_ptr<NodePlan> Noop::plan(const ir::Graph&, const ir::Node& node, const PlanOptions&) const {
  MK_CHECK(false, "noop cannot plan node {}", node.name);
  return nullptr;
}

}  // namespace megakittens::ops
