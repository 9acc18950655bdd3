#include "ir/spec.hpp"

#include <limits>
#include <set>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 48;

bool is_value(const Graph& graph, ValueId id) {
  return id >= 0 && id < static_cast<ValueId>(graph.values.size());
}

/// Sizes and strides small enough that no product or sum of ours overflows.
std::string bounded(const Extents& sizes, const Extents& strides) {
  if (sizes.size() != strides.size()) return fmt::format("{} sizes but {} strides", sizes.size(), strides.size());
  if (sizes.size() > kMaxRank) return fmt::format("rank {} is above the limit of {}", sizes.size(), kMaxRank);
  std::int64_t count = 1;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > kMaxElements) return fmt::format("size {} of dimension {}", sizes[i], i);
    if (strides[i] < 0 || strides[i] > kMaxElements) return fmt::format("stride {} of dimension {}", strides[i], i);
    std::int64_t size = std::max<std::int64_t>(sizes[i], 1);
    if (count > kMaxElements / size) return fmt::format("more than {} elements", kMaxElements);
    count *= size;
    if (strides[i] > 0 && (size - 1) > kMaxElements / strides[i])
      return fmt::format("spans over {} elements", kMaxElements);
    last += (size - 1) * strides[i];
    if (last > kMaxElements) return fmt::format("spans over {} elements", kMaxElements);
  }
  return {};
}

std::string fits(const View& view, const Tensor& tensor) {
  if (std::string fault = bounded(view.sizes, view.strides); !fault.empty()) return fault;
  if (view.offset < 0 || view.offset > kMaxElements) return fmt::format("offset {}", view.offset);
  auto [first, end] = view.range();
  if (first == end) return {};
  if (end > tensor.span())
    return fmt::format("view {} ends at element {} of a storage of {}", to_string(view), end, tensor.span());
  return {};
}

std::string tensors_are_well_formed(const Graph& graph) {
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (std::string fault = bounded(graph.values[i].tensor.shape, graph.values[i].tensor.strides); !fault.empty())
      return fmt::format("value {} '{}': {}", i, graph.values[i].name, fault);
  return {};
}

std::string inputs_are_values(const Graph& graph) {
  std::set<ValueId> seen;
  for (ValueId id : graph.inputs) {
    if (!is_value(graph, id)) return fmt::format("input {} of {} values", id, graph.values.size());
    if (!seen.insert(id).second) return fmt::format("value '{}' is listed twice", graph.value(id).name);
    if (graph.value(id).producer != -1) return fmt::format("input '{}' has a producer", graph.value(id).name);
    if (graph.value(id).mutation)
      return fmt::format("input '{}' is a new version of another value", graph.value(id).name);
  }
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (graph.values[i].producer == -1 && !seen.contains(static_cast<ValueId>(i)))
      return fmt::format("value '{}' has neither a producer nor a place among the inputs", graph.values[i].name);
  return {};
}

std::string producers_agree(const Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.outputs.empty()) return graph.describe(node) + " has no output";
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (!is_value(graph, node.outputs[k]))
        return fmt::format("{}: output {} of {} values", graph.describe(node), node.outputs[k], graph.values.size());
      const Value& value = graph.value(node.outputs[k]);
      if (value.producer != static_cast<NodeId>(n) || value.output_index != static_cast<int>(k))
        return fmt::format("{}: its output {} '{}' names node {}, output {}", graph.describe(node), k, value.name,
                           value.producer, value.output_index);
    }
  }
  for (const Value& value : graph.values) {
    if (value.producer == -1) continue;
    if (value.producer < 0 || value.producer >= static_cast<NodeId>(graph.nodes.size()))
      return fmt::format("value '{}' names node {} of {}", value.name, value.producer, graph.nodes.size());
    const Node& node = graph.nodes[static_cast<std::size_t>(value.producer)];
    auto index = static_cast<std::size_t>(value.output_index);
    if (value.output_index < 0 || index >= node.outputs.size() || &graph.value(node.outputs[index]) != &value)
      return fmt::format("value '{}' is not output {} of {}", value.name, value.output_index, graph.describe(node));
  }
  return {};
}

std::string operands_come_first(const Graph& graph) {
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    for (const Operand& operand : graph.nodes[n].operands) {
      if (!is_value(graph, operand.value))
        return fmt::format("{}: operand {} of {} values", graph.describe(graph.nodes[n]), operand.value,
                           graph.values.size());
      if (graph.value(operand.value).producer >= static_cast<NodeId>(n))
        return fmt::format("{} reads '{}', which is not made yet", graph.describe(graph.nodes[n]),
                           graph.value(operand.value).name);
    }
  return {};
}

std::string views_fit(const Graph& graph) {
  for (const Node& node : graph.nodes)
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (std::string fault = fits(node.operands[i].view, graph.value(node.operands[i].value).tensor); !fault.empty())
        return fmt::format("{}: operand {}: {}", graph.describe(node), i, fault);
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (!is_value(graph, graph.outputs[i].value))
      return fmt::format("output {} names value {} of {}", i, graph.outputs[i].value, graph.values.size());
    const Value& returned = graph.value(graph.outputs[i].value);
    if (returned.producer != -1 && !returned.mutation && !returned.tensor.is_contiguous())
      return fmt::format("output {} '{}' is not dense", i, returned.name);
    if (std::string fault = fits(graph.outputs[i].view, graph.value(graph.outputs[i].value).tensor); !fault.empty())
      return fmt::format("output {}: {}", i, fault);
  }
  return {};
}

std::string mutations_are_versions(const Graph& graph) {
  std::set<ValueId> replaced;
  for (const Value& value : graph.values) {
    if (!value.mutation) {
      if (value.producer != -1 && !value.tensor.is_row_major())
        return fmt::format("value '{}' is not row-major", value.name);
      continue;
    }
    const Mutation& mutation = *value.mutation;
    if (!is_value(graph, mutation.of) || graph.value(mutation.of).producer >= value.producer)
      return fmt::format("value '{}' is a new version of value {}, which is not made yet", value.name, mutation.of);
    const Value& old = graph.value(mutation.of);
    if (!replaced.insert(mutation.of).second) return fmt::format("value '{}' is overwritten twice", old.name);
    if (old.tensor != value.tensor)
      return fmt::format("value '{}' is {}, its old version {}", value.name, to_string(value.tensor),
                         to_string(old.tensor));
    if (std::string fault = fits(mutation.view, value.tensor); !fault.empty())
      return fmt::format("value '{}': {}", value.name, fault);
    for (int d = 0; d < mutation.view.rank(); ++d)
      if (mutation.view.sizes[d] > 1 && mutation.view.strides[d] == 0)
        return fmt::format("value '{}' is written through {}, which meets elements twice", value.name,
                           to_string(mutation.view));
  }
  return {};
}

/// What a mutating node may read of the version it replaces: what it writes, element by element, or nothing it writes.
std::string own_read_is_safe(const Graph& graph, const Node& node, std::size_t operand, const Value& fresh) {
  const View& read = node.operands[operand].view;
  const View& written = fresh.mutation->view;
  if (node.family == Family::call && !node.body) return {};
  // Scatter reads what it keeps where it writes it; the others' first operands are read elsewhere than they write.
  const bool in_place = node.family == Family::scatter
                            ? operand == 0
                            : static_cast<int>(operand) >= first_body_operand(node) && node.family != Family::gather &&
                                  node.family != Family::scan;
  if (read == written && in_place) return {};
  auto whole = [](const View& view) { return Box{Extents(view.sizes.size(), 0), view.sizes}; };
  for (const Box& a : boxes_in_base(read, whole(read), fresh.tensor))
    for (const Box& b : boxes_in_base(written, whole(written), fresh.tensor))
      if (overlaps(a, b))
        return fmt::format("{}: operand {} reads {} of '{}' while the node overwrites {}", graph.describe(node),
                           operand, to_string(read), graph.value(node.operands[operand].value).name,
                           to_string(written));
  return {};
}

std::string old_versions_are_not_read(const Graph& graph) {
  // The node that overwrites each value, or one past the last.
  std::vector<NodeId> overwritten(graph.values.size(), static_cast<NodeId>(graph.nodes.size()));
  for (const Value& value : graph.values)
    if (value.mutation) overwritten[static_cast<std::size_t>(value.mutation->of)] = value.producer;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      ValueId id = node.operands[i].value;
      NodeId end = overwritten[static_cast<std::size_t>(id)];
      if (end < static_cast<NodeId>(n))
        return fmt::format("{} reads '{}', which {} has overwritten", graph.describe(node), graph.value(id).name,
                           graph.describe(graph.nodes[static_cast<std::size_t>(end)]));
      if (end > static_cast<NodeId>(n)) continue;
      for (ValueId fresh : node.outputs)
        if (graph.value(fresh).mutation && graph.value(fresh).mutation->of == id)
          if (std::string fault = own_read_is_safe(graph, node, i, graph.value(fresh)); !fault.empty()) return fault;
    }
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i)
    if (overwritten[static_cast<std::size_t>(graph.outputs[i].value)] < static_cast<NodeId>(graph.nodes.size()))
      return fmt::format("output {} shows '{}', which is overwritten", i, graph.value(graph.outputs[i].value).name);
  return {};
}

constexpr Rule kStructureRules[] = {
    {"tensors_are_well_formed", "Every tensor has at most 8 dimensions with sizes and strides that do not overflow.",
     tensors_are_well_formed},
    {"inputs_are_values", "Each value is either an input, listed once, or produced by a node.", inputs_are_values},
    {"producers_agree", "A node and its outputs name each other.", producers_agree},
    {"operands_come_first", "Nodes stand in topological order.", operands_come_first},
    {"views_fit", "Every view lies inside the storage it shows.", views_fit},
    {"mutations_are_versions",
     "A produced tensor is dense; a new version of a storage has its old version's tensor, each version is replaced at "
     "most once, and no element is written twice by one node.",
     mutations_are_versions},
    {"old_versions_are_not_read",
     "Nothing reads a version that has been overwritten; the overwriting node reads only what it writes, element by "
     "element, or what it does not write.",
     old_versions_are_not_read},
    {"symbols_are_consistent",
     "Each symbol has a sample of at least 1 and is used; each expression gives, with the samples, the integer that it "
     "stands for, and sizes of at least 1.",
     symbols_fault},
};

}  // namespace

std::span<const Rule> structure_rules() {
  return kStructureRules;
}

void verify(const Graph& graph) {
  for (std::span<const Rule> rules : {structure_rules(), operation_rules()})
    for (const Rule& rule : rules)
      if (std::string fault = rule.check(graph); !fault.empty())
        throw FormatError(
            fmt::format("graph '{}' breaks rule {}: {} ({})", graph.name, rule.name, fault, rule.sentence));
}

}  // namespace megakittens::ir
