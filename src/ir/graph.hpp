// The graph: values (inputs and what nodes produce), nodes in topological order, and outputs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/pointwise.hpp"
#include "ir/symbols.hpp"
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

/// What a node does:
///   pointwise    a body over operands that all have the written shape (stride 0 where broadcast)
///   contraction  "matmul": A [batch.., M, K] and B [batch.., K, N] give [batch.., M, N], accumulated in fp32. Either
///   may
///                be transposed: that is a view. With a body, its accumulator is the product and it reads the operands
///                from 2 on; without, the product is rounded and stored.
///   reduce       operand 0 over some dimensions. A body's accumulator is the result; it reads the operands from 1 on.
///   gather       elements of operand 0 at positions that index operands hold
///   scatter      operand 0 with the elements of operand 1 written to, or combined with, such positions
///   scan         operand 0, accumulated along a dimension
///   copy         one operand with the written shape and its dtype
///   call         an operation that is no family's: only instruction types of its own take it. With a body it has one
///                output: the accumulator is the operation's result, and the body reads the operands from
///                Call::own_operands on.
enum class Family : std::uint8_t { pointwise, contraction, reduce, gather, scatter, scan, copy, call };

/// NaN wins in amax and amin; argmax and argmin give the first such position, counted along the dimension, or in
/// row-major order over several.
enum class Reduction : std::uint8_t { sum, mean, prod, amax, amin, any, all, argmax, argmin };
struct Reduce {
  Reduction kind = Reduction::sum;
  std::vector<int> dims;  ///< of operand 0, ascending
  bool keep = false;      ///< reduced dimensions stay, with size 1
  bool operator==(const Reduce&) const = default;
};

/// `coordinates[d]` is where position d of operand 0 comes from: dimension c >= 0 of the index space, or, below 0,
/// index operand number -1 - c. The index space is the output's shape; index operands are i64 or i32 and have that
/// shape. An index counts from the front; one out of range is the caller's error.
struct Gather {
  std::vector<int> coordinates;
  bool operator==(const Gather&) const = default;
};

/// In row-major order of the index space, operand 1's shape, so that results do not depend on timing.
enum class ScatterKind : std::uint8_t { set, add, prod, amax, amin };
struct Scatter {
  ScatterKind kind = ScatterKind::set;
  std::vector<int> coordinates;  ///< as Gather's, of operand 0
  bool operator==(const Scatter&) const = default;
};

enum class ScanKind : std::uint8_t { sum, prod, max, min, logsumexp };
/// max and min may have a second output, i64: the last position that holds the value so far.
struct Scan {
  ScanKind kind = ScanKind::sum;
  int dim = 0;
  bool operator==(const Scan&) const = default;
};

using Attribute = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
struct Call {
  std::string target;                          ///< the operation's full name: "mylib.rms_norm.default"
  std::map<std::string, Attribute> arguments;  ///< besides tensors, by name, or by position as "2"
  std::string text;                            ///< all arguments, as a person reads them
  std::string why;                             ///< why nothing else takes it
  int own_operands = 0;                        ///< with a body: how many operands the operation itself reads; else 0
  bool operator==(const Call&) const = default;
};

/// Of a family that has any; else std::monostate.
using Details = std::variant<std::monostate, Reduce, Gather, Scatter, Scan, Call>;

struct Node {
  Family family = Family::pointwise;
  std::string name;
  std::vector<Operand> operands;
  std::vector<ValueId> outputs;
  Details details;
  std::optional<PointwiseBody> body;
  /// "model.py:12 in forward", as the user wrote it; empty where unknown.
  std::string source;
  bool operator==(const Node&) const = default;
};

/// "pointwise", "matmul", "reduce", "gather", "scatter", "scan", "copy", "call".
std::string_view name_of(Family family);
std::string_view name_of(Reduction kind);
std::string_view name_of(ScatterKind kind);
std::string_view name_of(ScanKind kind);
/// The operation of a pointwise node that is one step over its operands in order; round is none.
std::optional<PointwiseOp> plain_op(const Node& node);
/// That operation's name, or the family's: what files and reports call the node.
std::string_view op_of(const Node& node);
/// The body that such a node has.
PointwiseBody plain_body(PointwiseOp op);
/// The number of the first operand that the node's body reads, or would read if a body were added.
int first_body_operand(const Node& node);
/// nullptr where the node is no call.
inline const Call* call_of(const Node& node) {
  return std::get_if<Call>(&node.details);
}

struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<ValueId> inputs;
  std::vector<Node> nodes;
  /// What the function returns, in order; several may show one value, or an input.
  std::vector<Operand> outputs;
  /// The symbols of its sizes, with sample values; the integers at `holes` are what the samples give. Ascending by
  /// place. Both are empty once the graph is bound (ir/symbols.hpp).
  SymbolValues symbols;
  std::vector<Hole> holes;
  bool operator==(const Graph&) const = default;

  const Value& value(ValueId id) const;
  /// The storage a value lives in: follows mutations to the first version.
  ValueId root(ValueId id) const;
  /// "node 'mm' (matmul) at model.py:12": for errors.
  std::string describe(const Node& node) const;
};

inline constexpr int kGraphVersion = 2;

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
