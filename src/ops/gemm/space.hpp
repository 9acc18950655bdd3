// What the GEMM types share on the host: a matmul node's operands in four dimensions, its record, and tile order.
#pragma once

#include <variant>

#include "ops/common/merge.hpp"
#include "ops/common/regions.hpp"
#include "ops/instruction_type.hpp"

namespace megakittens::ops::gemm {

/// A matmul node made ready.
struct Space {
  program::NodeRecord record{};
  std::vector<ir::View> views;  ///< A, B, epilogue operands, output; rank 4
  ir::DType in = ir::DType::bf16;
  ir::DType out = ir::DType::bf16;
  std::int64_t outer0 = 1, outer1 = 1, m = 0, n = 0, k = 0;
};

/// Gives the reason where the node is no matmul, or one that does not fit a record.
std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node);

/// Which output tile an instruction works on, and which part of it this CTA does.
struct TileShape {
  std::int64_t rows = 0;  ///< of the tile that is declared
  std::int64_t columns = 0;
  bool paired = false;    ///< instructions 2t and 2t+1 do the upper and the lower half of tile t
  std::int64_t band = 1;  ///< rows of tiles that are visited together, column by column
};

/// Visits tiles in supergroups of 8 columns with serpentine rows, or bands of rows: both operands' tiles are used again
/// while in L2. In bands of four, sixteen SMs that start together read four tiles of each operand: on an H200 128 SMs
/// then take in up to 88 bytes a clock each, row by row 51 to 76 (64 x 64 and 64 x 128 tiles, K 1024).
class TilePlan final : public NodePlan {
 public:
  TilePlan(Space space, TileShape shape);
  InstructionPlan instruction(std::int64_t i) const override;

 private:
  Space space_;
  TileShape shape_;
  std::int64_t row_tiles_;
  std::int64_t column_tiles_;
};

/// (row tile, column tile) of the j-th tile in that order.
std::pair<std::int64_t, std::int64_t> swizzled_tile(std::int64_t j, std::int64_t row_tiles, std::int64_t column_tiles,
                                                    std::int64_t band);

std::vector<Region> tile_regions(const program::NodeRecord& record, const program::Instruction& instruction);

}  // namespace megakittens::ops::gemm
