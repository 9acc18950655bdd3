// A user's instruction type in the place of one of ours: what its host half says is checked and translated here.
#pragma once

#include "megakittens/instruction_type.hpp"
#include "ops/common/fit.hpp"
#include "ops/instruction_type.hpp"
#include "ops/user/device_half.hpp"

namespace megakittens::ops {

// Operands of users' types, of up to eight dimensions, in a node record that has room for four of each: record.cpp.

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

class UserType final : public InstructionType {
 public:
  /// Throws UserError where the type's name is no name or its device half cannot be read.
  explicit UserType(std::shared_ptr<megakittens::InstructionType> host);

  std::string_view name() const override { return half_.name; }
  /// As graphs call it: "mylib.rms_norm.default".
  const std::string& target() const { return target_; }
  const DeviceHalf& device_half() const { return half_; }
  /// What the host half says. UserError names type and method where it throws something else than an Error of ours.
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands, const std::vector<std::int32_t>& index) const;
  std::vector<BulkMap> maps(const std::vector<OperandInfo>& operands) const;
  /// Its device half stores results through the record's code.
  bool takes_epilogue() const { return takes_epilogue_; }
  std::vector<Example> examples() const;
  /// Of name, operation, device half and whether it takes epilogues: programs that were made with another one are not
  /// for this type.
  const std::string& fingerprint() const { return fingerprint_; }
  void set_icode(std::uint16_t icode) { half_.icode = icode; }

  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const PlanOptions& options) const override;
  /// Throws UserError naming type and instruction where the host half raises or its boxes leave their tensors.
  std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                 const PlanOptions& options) const override;
  std::vector<Region> regions(const program::NodeRecord& record,
                              const program::Instruction& instruction) const override;
  /// Throws UserError where the host half raises.
  std::optional<std::string> record_fault(const program::Program& program, const program::NodeRecord& record,
                                          std::uint16_t icode) const override;
  std::uint64_t most_clocks(const program::NodeRecord& record, const program::Instruction& instruction) const override;
  /// What the node's body, if it has one, is applied to. Inputs and results dense, in the order of the node's own
  /// operands and outputs.
  std::vector<std::vector<float>> reference(const ir::Graph& graph, const ir::Node& node,
                                            const std::vector<std::vector<float>>& inputs) const;

 private:
  template <class F>
  auto ask(const char* method, F&& f) const;

  std::shared_ptr<megakittens::InstructionType> host_;
  DeviceHalf half_;
  std::string target_;
  std::string fingerprint_;
  bool takes_epilogue_ = false;
};

/// "mylib::rms_norm" and "mylib.rms_norm" are "mylib.rms_norm.default".
std::string target_of_operation(const std::string& operation);

}  // namespace megakittens::ops
