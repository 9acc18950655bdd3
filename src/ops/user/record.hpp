// Operands of users' types, of up to eight dimensions, in a node record that has room for four of each.
#pragma once

#include "ir/view.hpp"
#include "megakittens/instruction_type.hpp"
#include "ops/common/fit.hpp"

namespace megakittens::ops {

/// Appends an operand whose view has four to eight dimensions. Why a record cannot hold it, or empty.
Fault add_operand(program::NodeRecord& record, const ir::View& view, ir::DType dtype, bool output);

/// All operands of the record. Throws FormatError where the record's counts are impossible.
std::vector<OperandInfo> operands_of(const program::NodeRecord& record);

/// Where the operands lie that the code alone reads: behind the type's own inputs, before the outputs. Throws
/// FormatError where the record's counts are impossible.
struct BodyOperands {
  explicit BodyOperands(const program::NodeRecord& record);
  int first = 0;
  int end = 0;

  /// What the host half sees of all operands.
  std::vector<OperandInfo> without(std::vector<OperandInfo> operands) const;
  /// The record's number of what the host half calls operand k.
  int number(int k) const { return k < first ? k : k + end - first; }
};

/// Why the words for dimensions beyond four do not belong to the record's operands: a count or an element that is not
/// there.
Fault middle_fault(const program::Program& program, const program::NodeRecord& record);

void set_clocks(program::NodeRecord& record, std::uint64_t clocks);
std::uint64_t clocks_of(const program::NodeRecord& record);

}  // namespace megakittens::ops
