// What the two elementwise types share on the host: a node's merged index space, its record, and rectangular tilings.
#pragma once

#include <variant>

#include "ops/common/merge.hpp"
#include "ops/common/regions.hpp"
#include "ops/instruction_type.hpp"
#include "ops/pointwise/compile.hpp"

namespace megakittens::ops::elementwise {

/// A pointwise node made ready: record with operands and code, views with merged dimensions.
struct Space {
  program::NodeRecord record{};
  std::vector<ir::View> views;  ///< operands, then outputs
  std::vector<ir::DType> types;
  int inputs = 0;
  bool single_row = false;
};

/// Gives the reason where the node is no pointwise program, or one that does not fit a record.
std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node);

/// Cuts a rank-4 space into blocks of rows x columns inside every (outer0, outer1), row-major.
class RectanglePlan final : public NodePlan {
 public:
  /// `shape` are the index words from kShape on, the same for every instruction.
  RectanglePlan(Space space, std::int64_t rows, std::int64_t columns, std::vector<std::int32_t> shape);
  InstructionPlan instruction(std::int64_t i) const override;

 private:
  std::int64_t block_rows_;
  std::int64_t block_columns_;
  std::int64_t grid_[4];
  std::vector<std::int32_t> shape_;
  int inputs_;
};

/// Index word kShape.
std::int32_t shape_word(const Space& space, int tile_rows);

/// Regions of an instruction with elementwise::Index words.
std::vector<Region> rectangle_regions(const program::NodeRecord& record, const program::Instruction& instruction);

/// Rows a block may have so that there are at least `wanted` blocks, from `most` down to `least`, halving.
std::int64_t rows_for_parallelism(const ir::Extents& sizes, std::int64_t columns, std::int64_t most, std::int64_t least,
                                  std::int64_t wanted);

}  // namespace megakittens::ops::elementwise
