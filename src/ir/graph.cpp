#include "ir/graph.hpp"

#include "support/error.hpp"

namespace megakittens::ir {

const Value& Graph::value(ValueId id) const {
  MK_CHECK(id >= 0 && id < static_cast<ValueId>(values.size()), "value {} of {}", id, values.size());
  return values[static_cast<std::size_t>(id)];
}

ValueId Graph::root(ValueId id) const {
  // Each version names an earlier one, so a chain longer than the list of values is a cycle.
  for (std::size_t hops = 0; hops <= values.size(); ++hops) {
    const Value& at = value(id);
    if (!at.mutation) return id;
    id = at.mutation->of;
  }
  MK_CHECK(false, "the versions of value {} form a cycle", id);
  return -1;
}

std::string Graph::describe(const Node& node) const {
  std::string text = fmt::format("node '{}' ({})", node.name, node.op);
  if (auto target = node.attributes.find("target"); node.op == "opaque" && target != node.attributes.end())
    if (const auto* name = std::get_if<std::string>(&target->second))
      text = fmt::format("node '{}' ({})", node.name, *name);
  if (!node.source.empty()) text += " at " + node.source;
  return text;
}

}  // namespace megakittens::ir
