#include <fmt/format.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "ops/elementwise/elementwise.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/gemm_general/gemm_general.hpp"
#include "ops/icodes.hpp"
#include "ops/instruction_type.hpp"
#include "ops/noop/noop.hpp"
#include "ops/permute/permute.hpp"
#include "ops/user/registry.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

struct IcodeEntry {
  std::string_view name;
  std::string_view folder;
};
constexpr IcodeEntry kIcodes[] = {
#define MK_ICODE(name, folder) {#name, #folder},
#include "ops/ops.def"
};

}  // namespace

std::optional<std::string> InstructionType::record_fault(const program::Program&, const program::NodeRecord&,
                                                         std::uint16_t) const {
  return std::nullopt;
}

std::optional<std::string> InstructionType::instruction_fault(const program::Program&, const program::NodeRecord&,
                                                              const program::Instruction&) const {
  return std::nullopt;
}

const std::vector<const InstructionType*>& instruction_types() {
#define MK_TYPE(folder, Class) static const Class folder##_type;
#include "ops/ops.def"
  static const std::vector<const InstructionType*> types{
#define MK_TYPE(folder, Class) &folder##_type,
#include "ops/ops.def"
  };
  return types;
}

namespace {

/// For an operation that no type knows at all: its full name, why the front end kept it whole, and what there is.
[[noreturn]] void refuse_call(const ir::Graph& graph, const ir::Node& node) {
  const ir::Call& call = *ir::call_of(node);
  std::vector<std::string_view> pointwise;
  for (const ir::PointwiseOperation& operation : ir::pointwise_operations()) pointwise.push_back(operation.name);
  throw UnsupportedError(fmt::format(
      "{} is not supported{}{}: {}. Supported are matrix products (mm, addmm, bmm, matmul, linear), views, "
      "copies, casts, "
      "writes in place, and elementwise {}. Compute it outside the compiled function, or write an "
      "instruction type for it (docs/guides/instruction-types.md)",
      call.target, call.why.empty() ? "" : ": ", call.why, graph.describe(node), fmt::join(pointwise, ", ")));
}

/// The user's type for an operation that the standard set lacks.
const InstructionType& user_type(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) {
  const UserType* type = user_type_for(ir::call_of(node)->target);
  if (type == nullptr) refuse_call(graph, node);
  if (std::optional<std::string> reason = type->unsuited(graph, node, options))
    throw UnsupportedError(fmt::format("no instruction type takes {}:\n  {}", graph.describe(node), *reason));
  return *type;
}

}  // namespace

const InstructionType& type_for(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) {
  if (node.family == ir::Family::call) return user_type(graph, node, options);
  std::string reasons;
  for (const InstructionType* type : instruction_types()) {
    std::optional<std::string> reason = type->unsuited(graph, node, options);
    if (!reason) return *type;
    const std::string line = "\n  " + *reason;  // of two types, often the same
    if (type->name() != "noop" && reasons.find(line) == std::string::npos) reasons += line;
  }
  throw UnsupportedError(fmt::format("no instruction type takes {}:{}", graph.describe(node), reasons));
}

bool takes_epilogue(const ir::Node& node) {
  const ir::Call* call = ir::call_of(node);
  const UserType* type = call == nullptr ? nullptr : user_type_for(call->target);
  return node.family == ir::Family::contraction || (type != nullptr && type->takes_epilogue());
}

const InstructionType& type_of_icode(std::uint16_t icode) {
  if (icode >= kIcodeCount) return user_type_of_icode(icode);
  for (const InstructionType* type : instruction_types())
    if (type->name() == kIcodes[icode].folder) return *type;
  MK_CHECK(false, "icode {} names folder {}, which has no type", icode, kIcodes[icode].folder);
  return *instruction_types().front();
}

std::string_view icode_name(std::uint16_t icode) {
  return icode < kIcodeCount ? kIcodes[icode].name : user_icode_name(icode);
}

std::uint64_t most_clocks(const program::Program& program) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  std::uint64_t longest = 0, all = 0;
  const InstructionType* type = nullptr;
  std::uint16_t icode = 0;  // the noop's, which takes no time
  for (const program::Instruction& instruction : program.instructions) {
    if (instruction.icode == 0) continue;
    if (instruction.icode != icode) type = &type_of_icode(icode = instruction.icode);
    const std::uint64_t clocks = type->most_clocks(program.records[instruction.node], instruction);
    longest = std::max(longest, clocks);
    all = std::min(all + std::min(clocks, kMost), kMost);
  }
  return std::min(all / program.config.sms + 2 * std::min(longest, kMost / 2), kMost);
}

std::uint16_t icode_count() {
  return user_icode_end();
}

}  // namespace megakittens::ops
