// The graph: values (inputs and what nodes produce), nodes in topological order, and outputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/pointwise.hpp"
#include "ir/tensor.hpp"
#include "ir/view.hpp"

namespace megakittens::ir {

using ValueId = int;
using NodeId = int;

/// One edge: which value is read, and through which view of its storage.
struct Operand {
  ValueId value = -1;
  View view;
  bool operator==(const Operand&) const = default;
};

/// This value is a new version of the storage of value `of`, which must reach back to an input or another value that
/// nothing reads any more: the node writes through `view` and leaves the rest of the storage as it was.
struct Mutation {
  ValueId of = -1;
  View view;
  bool operator==(const Mutation&) const = default;
};

/// A tensor at one point of the graph. `producer` is the node's number, or -1 for an input.
struct Value {
  std::string name;
  Tensor tensor;
  NodeId producer = -1;
  int output_index = 0;
  std::optional<Mutation> mutation;
  bool operator==(const Value&) const = default;
};

using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// Operations: every pointwise name of MK_POINTWISE_OPS ("add" with attribute "alpha" is spelled out as steps by the
/// frontend), "pointwise" (a chain), "matmul", "copy", and "opaque", which only users' instruction types take.
///   matmul: operands A [batch.., M, K], B [batch.., K, N], then the operands its body reads; output [batch.., M, N].
///           fp32 accumulation. With a body, the accumulator is the product; without, it is rounded and stored.
///   pointwise and all elementwise names: every operand's view has the output's shape (stride 0 where broadcast).
///   copy: one operand with the output's shape and dtype.
///   opaque: attribute "target" is the operation's full name; what it was called with besides tensors are attributes
///           "argument.NAME" or, by position, "argument.2".
struct Node {
  std::string op;
  std::string name;
  std::vector<Operand> operands;
  std::vector<ValueId> outputs;
  std::map<std::string, Attribute> attributes;
  std::optional<PointwiseBody> body;
  /// "model.py:12 in forward", as the user wrote it; empty where unknown.
  std::string source;
  bool operator==(const Node&) const = default;
};

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<ValueId> inputs;
  std::vector<Node> nodes;
  /// What the function returns, in order; several may show one value, or an input.
  std::vector<Operand> outputs;
  /// Opaque to us, kept for the front end (how outputs and mutated inputs map to the user's tensors).
  std::map<std::string, std::string> metadata;
  bool operator==(const Graph&) const = default;

  const Value& value(ValueId id) const;
  /// The storage a value lives in: follows mutations to the first version.
  ValueId root(ValueId id) const;
  /// "node 'mm' (matmul) at model.py:12": for errors.
  std::string describe(const Node& node) const;
};

inline constexpr int kGraphVersion = 1;

/// Checks every rule in ir/spec.cpp. Throws FormatError that names the node and the rule.
void verify(const Graph& graph);

/// The table a person reads: one line a value, node and output.
std::string to_string(const Graph& graph);

/// The .mkg.json form; from_json(to_json(g)) == g. from_json verifies. Throws FormatError; never crashes.
std::string to_json(const Graph& graph);
Graph from_json(const std::string& text);
/// Throws UserError naming the path where a file cannot be read or written.
Graph load(const std::string& path);
void save(const Graph& graph, const std::string& path);

}  // namespace megakittens::ir
