// A pointwise node on the host: its merged index space, its record, and how its operands move.
#pragma once

#include <variant>

#include "ops/common/merge.hpp"
#include "ops/elementwise/arguments.hpp"
#include "ops/instruction_type.hpp"
#include "ops/pointwise/compile.hpp"

namespace megakittens::ops::elementwise {

/// A pointwise node made ready: record with operands, parameters and code, views with merged dimensions.
struct Space {
  program::NodeRecord record{};
  std::vector<ir::View> views;  ///< operands, then outputs
  std::vector<ir::DType> types;
  int inputs = 0;
  bool narrow = false;  ///< the code needs more than kWideTemporaries
};

/// Gives the reason where the node is no pointwise program, or one that does not fit a record. The last `keep`
/// dimensions are not merged.
std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node, int keep = 0);

/// How each operand moves. Without `ring` none moves as kDense.
std::vector<Mode> modes_of(const Space& space, bool ring);

}  // namespace megakittens::ops::elementwise
