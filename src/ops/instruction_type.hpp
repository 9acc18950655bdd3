// The host half of an instruction type: which nodes it takes, how it cuts them into instructions, and what each
// instruction reads and writes. One subclass a folder of src/ops; the list is ops/ops.def.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "program/program.hpp"

namespace megakittens::ops {

enum class Tiling : std::uint8_t { automatic, seed };

/// What decides how nodes are cut, besides the nodes.
struct PlanOptions {
  program::Config config;
  Tiling tiling = Tiling::automatic;
  /// Products' tile by its name in ops/gemm/tiles.def, whatever its figures; chosen where empty.
  std::string tile{};
};

/// A box that an instruction touches, in coordinates of NodePlan::views[operand].
struct Access {
  int operand = 0;  ///< operands in order, then outputs
  ir::Box box;
};

/// One instruction, before storages, counters and order are known.
struct InstructionPlan {
  std::vector<std::int32_t> index;
  std::vector<Access> reads;
  std::vector<Access> writes;
};

struct Cost {
  std::int64_t bytes = 0;
  std::int64_t operations = 0;
};

/// A node cut into instructions. `record.operands[k].storage` and `offset` are filled by the scheduler; `offset` here
/// is the element offset inside the value's tensor. `maps[j].storage` holds an operand number until then, and
/// `record.operands[k].map` an index into `maps`.
class NodePlan {
 public:
  NodePlan() = default;
  NodePlan(const NodePlan&) = delete;
  NodePlan& operator=(const NodePlan&) = delete;
  virtual ~NodePlan() = default;
  std::uint16_t icode = 0;
  std::int64_t count = 0;
  /// Instructions 2k and 2k+1 are one tile done by a CTA pair.
  bool paired = false;
  /// How this plan sees each operand and then each output: a view of the value's tensor (for an output that mutates, of
  /// the mutated value's), often with dimensions merged. Boxes of accesses are in these coordinates.
  std::vector<ir::View> views;
  program::NodeRecord record{};
  std::vector<program::TensorMapDescription> maps;
  Cost cost;
  /// See program::Instruction::release_order.
  std::uint64_t release_order = program::kReleaseInOrder;
  /// The node's further instructions, which another record or icode describes: they follow this plan's, and see
  /// operands and outputs by equal `views`. Null where there are none.
  std::unique_ptr<NodePlan> rest;

  virtual InstructionPlan instruction(std::int64_t i) const = 0;
};

/// Elements of a storage that a finished instruction touches: a strided box, at most eight dimensions.
struct Region {
  std::uint32_t storage = 0;
  int operand = 0;
  bool write = false;
  program::ElementType type = program::ElementType::bf16;
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
};

class InstructionType {
 public:
  virtual ~InstructionType() = default;
  virtual std::string_view name() const = 0;
  /// What the device half will touch, read off the record and the instruction alone: the verifier's and the checker's
  /// view, written independently of NodePlan::instruction.
  virtual std::vector<Region> regions(const program::NodeRecord& record,
                                      const program::Instruction& instruction) const = 0;
  /// Why the device half cannot run on the record, or an instruction on a record that it can run on: what it follows
  /// without a check of its own (index words, operands, their maps, code) does not belong together. Empty where it
  /// does. Whoever wrote the program, program::verify_bounds accepts it. Independent of plan(), as regions() is.
  virtual std::optional<std::string> record_fault(const program::Program& program, const program::NodeRecord& record,
                                                  std::uint16_t icode) const;
  virtual std::optional<std::string> instruction_fault(const program::Program& program,
                                                       const program::NodeRecord& record,
                                                       const program::Instruction& instruction) const;
  /// Clocks that the instruction may take, where that is so long that a wait behind it is no fault; else 0.
  virtual std::uint64_t most_clocks(const program::NodeRecord&, const program::Instruction&) const { return 0; }
  /// Empty where this type takes the node, else why not, in words a user understands.
  virtual std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                              const PlanOptions& options) const = 0;
  /// Needs unsuited() to be empty.
  virtual std::unique_ptr<NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                         const PlanOptions& options) const = 0;
};

/// The standard set, in the order of ops.def. Users' types: ops/user/registry.hpp.
const std::vector<const InstructionType*>& instruction_types();
/// The first type that takes the node; a call that the standard set lacks may be a user's. Throws UnsupportedError
/// naming the node, its source line, and what each type says about it.
const InstructionType& type_for(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options);

/// Whether the type of such a node applies a body to its result: products' does, a user's where it declares so.
bool takes_epilogue(const ir::Node& node);

/// The type an icode belongs to; users' follow the standard ones, and one that was unregistered is still there. Throws
/// FormatError for an unknown icode.
const InstructionType& type_of_icode(std::uint16_t icode);
std::string_view icode_name(std::uint16_t icode);
/// Clocks in which an SM works off its share of the program's long instructions, and two of the longest more; 2^62 at
/// most.
std::uint64_t most_clocks(const program::Program& program);
/// One past the last icode that this process knows.
std::uint16_t icode_count();

}  // namespace megakittens::ops
