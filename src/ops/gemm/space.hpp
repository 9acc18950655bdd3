// What the GEMM types share on the host: a matmul node's operands in four dimensions, its record, and tile order.
#pragma once

#include <utility>
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

/// The record's code rounds sums to 16 bits before anything else, or behind adding a 16-bit row: Hopper's wide tiles
/// take no other (staged::Beginning in ops/gemm/staged_epilogue.cuh).
bool rounds_first(const program::NodeRecord& record);
/// Its code is one that Hopper's short epilogue knows (ops/gemm/short_epilogue.cuh); whole, aligned tiles take that.
bool is_short(const program::NodeRecord& record);

/// The order in which the tiles of a product stand in the program.
enum class TileOrder : std::uint8_t {
  /// The seed's: supergroups of 8 columns, all rows of one before the next, odd ones from the last row up.
  columns,
  /// Groups of eight rows, or of four where there are no more than eight; all columns of one before the next. A product
  /// that reads this one's result by rows begins while later groups are under way, and fills SMs that have no tile left
  /// in this one's last round (docs/concepts/interpreter.md has figures). Inside a group strips of 8 columns, and in
  /// these bands of four rows, column by column: sixteen SMs that start together read four tiles of each operand.
  rows,
};

/// (row tile, column tile) of the j-th tile.
std::pair<std::int64_t, std::int64_t> tile_at(TileOrder order, std::int64_t j, std::int64_t row_tiles,
                                              std::int64_t column_tiles);

/// Which output tile an instruction works on, and which part of it this CTA does.
struct TileShape {
  std::int64_t rows = 0;  ///< of the tile that is declared
  std::int64_t columns = 0;
  bool paired = false;  ///< instructions 2t and 2t+1 do the upper and the lower half of tile t
  TileOrder order = TileOrder::columns;
};

/// Of every matrix of a batch, [begin, end).
struct Rows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

class TilePlan final : public NodePlan {
 public:
  TilePlan(Space space, TileShape shape, Rows rows);
  InstructionPlan instruction(std::int64_t i) const override;

 private:
  Space space_;
  TileShape shape_;
  Rows rows_;
  std::int64_t row_tiles_;
  std::int64_t column_tiles_;
};

/// What the GEMM types answer alike.
class Product : public InstructionType {
 public:
  /// An instruction is a tile, however long its K: a wait behind one is no fault, even where it goes much slower than
  /// it should.
  std::uint64_t most_clocks(const program::NodeRecord& record, const program::Instruction& instruction) const override;
  std::vector<Region> regions(const program::NodeRecord& record,
                              const program::Instruction& instruction) const override;
  std::optional<std::string> record_fault(const program::Program& program, const program::NodeRecord& record,
                                          std::uint16_t icode) const override;
  std::optional<std::string> instruction_fault(const program::Program& program, const program::NodeRecord& record,
                                               const program::Instruction& instruction) const override;
};

}  // namespace megakittens::ops::gemm
