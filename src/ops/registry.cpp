#include <fmt/format.h>

#include <fmt/ranges.h>

#include <array>

#include "ops/elementwise/elementwise.hpp"
#include "ops/elementwise_general/elementwise_general.hpp"
#include "ops/gemm/gemm.hpp"
#include "ops/gemm_general/gemm_general.hpp"
#include "ops/icodes.hpp"
#include "ops/instruction_type.hpp"
#include "ops/noop/noop.hpp"
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
[[noreturn]] void refuse_opaque(const ir::Graph& graph, const ir::Node& node) {
  auto text = [&](const char* key) {
    auto found = node.attributes.find(key);
    const std::string* value = found == node.attributes.end() ? nullptr : std::get_if<std::string>(&found->second);
    return value ? *value : std::string();
  };
  std::string why = text("why");
  std::vector<std::string_view> pointwise;
#define MK_X(name, arity) pointwise.push_back(#name);
  MK_POINTWISE_OPS(MK_X)
#undef MK_X
  throw UnsupportedError(
      fmt::format("{} is not supported{}{}: {}. Supported are matrix products (mm, addmm, bmm, matmul, linear), views, "
                  "copies, casts, "
                  "writes in place, and elementwise {}. Compute it outside the compiled function, or write an "
                  "instruction type for it (docs/guides/instruction-types.md)",
                  text("target"), why.empty() ? "" : ": ", why, graph.describe(node), fmt::join(pointwise, ", ")));
}

/// The user's type for an operation that the standard set lacks.
const InstructionType& user_type(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) {
  const UserType* type = user_type_for(std::get<std::string>(node.attributes.at("target")));
  if (type == nullptr) refuse_opaque(graph, node);
  if (std::optional<std::string> reason = type->unsuited(graph, node, options))
    throw UnsupportedError(fmt::format("no instruction type takes {}:\n  {}", graph.describe(node), *reason));
  return *type;
}

}  // namespace

const InstructionType& type_for(const ir::Graph& graph, const ir::Node& node, const PlanOptions& options) {
  if (node.op == "opaque") return user_type(graph, node, options);
  std::string reasons;
  for (const InstructionType* type : instruction_types()) {
    std::optional<std::string> reason = type->unsuited(graph, node, options);
    if (!reason) return *type;
    const std::string line = "\n  " + *reason;  // of two types, often the same
    if (type->name() != "noop" && reasons.find(line) == std::string::npos) reasons += line;
  }
  throw UnsupportedError(fmt::format("no instruction type takes {}:{}", graph.describe(node), reasons));
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

std::uint16_t icode_count() {
  return user_icode_end();
}

}  // namespace megakittens::ops
