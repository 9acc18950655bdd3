// Whether the parts of a record and of its instructions belong together, for types that work on tiles of four
// dimensions: what InstructionType::record_fault and instruction_fault are made of.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "program/program.hpp"

namespace megakittens::ops {

using Fault = std::optional<std::string>;
using Sizes = std::array<std::int64_t, program::kMaxTileRank>;

bool is_output(const program::NodeRecord& record, int k);
bool is_mapped(const program::OperandRecord& operand);
program::ElementType type_of(const program::OperandRecord& operand);

/// Operand k has these sizes, strides that the device's arithmetic can follow, and the flags that its place, strides
/// and map call for; `bulk` where bulk copies or vectors move it without a map.
Fault operand_fault(const program::NodeRecord& record, int k, const Sizes& sizes, bool bulk = false);

/// A tensor map as a type's bulk copies need it.
struct MapShape {
  std::array<int, program::kMaxTileRank> dims{3, 2, 1, 0};  ///< the operand's dimension of each of the map's
  std::array<std::uint32_t, 2> box{};                       ///< of the first two; 1 in the others
  program::Swizzle swizzle = program::Swizzle::none;
  bool broadcast = false;  ///< a dimension of stride 0 has one element
};
/// Operand k has a map, of the operand's own elements and of that shape.
Fault map_fault(const program::Program& program, const program::NodeRecord& record, int k, const MapShape& shape);
/// No operand from `first` on has a map.
Fault unmapped_fault(const program::NodeRecord& record, int first);

/// The byte code reads only inputs from `first_input` on, `temporaries` and constants that are there, writes only
/// outputs, and each of them.
Fault code_fault(const program::NodeRecord& record, int first_input, int temporaries);

/// `words` index words, of which the first six (outer position, row, column, rows, columns) are a tile inside the
/// record's extents, with a first column that suits vectors. A tile of no rows may lie below the last.
Fault tile_fault(const program::NodeRecord& record, const program::Instruction& instruction, int words);

}  // namespace megakittens::ops
