// Graphs with symbolic sizes: where expressions stand in a graph, and binding their symbols to numbers.
#pragma once

#include "ir/expression.hpp"
#include "ir/view.hpp"

namespace megakittens::ir {

struct Graph;

/// What has sizes: a value's tensor, or the view of a value's mutation, of a node's operand, or of a graph output.
struct Holder {
  enum class Kind : std::uint8_t { tensor, mutation, operand, output };
  Kind kind = Kind::tensor;
  int index = 0;    ///< of the value, node, or output
  int operand = 0;  ///< of the node
  auto operator<=>(const Holder&) const = default;
};

/// One integer of a graph; a tensor has no offset.
struct Place {
  enum class Field : std::uint8_t { offset, size, stride };
  Holder holder;
  Field field = Field::size;
  int dim = 0;
  auto operator<=>(const Place&) const = default;
};

/// The expression that an integer of the graph stands for; the graph keeps the integer that the samples give.
struct Hole {
  Place where;
  Expression expression;
  bool operator==(const Hole&) const = default;
};

/// A view, or a tensor seen as a whole, with an expression for each integer.
struct SymbolicView {
  Expression offset;
  std::vector<Expression> sizes;
  std::vector<Expression> strides;
  bool operator==(const SymbolicView&) const = default;
};

/// "size 1 of value 'x'", "offset of operand 0 of node 'mm' (matmul) at model.py:3".
std::string describe(const Graph& graph, const Place& place);
/// nullptr where the integer is one.
const Expression* expression_at(const Graph& graph, const Place& place);
bool has_holes(const Graph& graph, const Holder& holder);
/// `view` is what the holder has: View::whole of a value's tensor.
SymbolicView symbolic(const Graph& graph, const Holder& holder, const View& view);

/// Row-major, for any sizes of at least 1 in place of the symbols. Throws FormatError as Expression's product does.
std::vector<Expression> dense_strides(const std::vector<Expression>& sizes);
/// Whether the value is dense, and whether the holder's view shows all of the value, whatever the symbols are.
bool is_dense(const Graph& graph, int value);
bool is_whole(const Graph& graph, const Holder& holder, const View& view, int value);

/// What is wrong with an integer that an expression of `field` gave; empty where nothing is. Sizes are at least 1.
std::string range_fault(Place::Field field, std::optional<std::int64_t> integer);
/// The rule that verify() checks: empty where expressions, symbols and samples agree with the graph.
std::string symbols_fault(const Graph& graph);

/// The graph with a number for every symbol, as if it had been built with those sizes. Throws OptionError naming a
/// symbol that has no value, a value below 1, or that the graph lacks; FormatError naming the node or integer where the
/// sizes do not fit. (As `bind`, a call with a std::map would find std::bind and do nothing.)
Graph bind_symbols(const Graph& graph, const SymbolValues& values);
/// Throws UserError naming the symbols of a graph that has any: sizes must be known from here on.
void expect_bound(const Graph& graph);

}  // namespace megakittens::ir
