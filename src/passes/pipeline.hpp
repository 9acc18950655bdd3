// The graph passes. The list is passes.def; each is one free function in a file of its own.
#pragma once

#include <functional>
#include <span>

#include "ops/instruction_type.hpp"

namespace megakittens::passes {

enum class Numerics : std::uint8_t {
  eager,  ///< every operation rounds to its tensor's type, as PyTorch's eager does
  fused,  ///< a chain keeps fp32 between its operations
};

/// "eager" or "fused". Throws OptionError for anything else.
Numerics parse_numerics(std::string_view text);

struct Options {
#define MK_PASS(name, switch_name, summary) bool switch_name = true;
#include "passes/passes.def"
  Numerics numerics = Numerics::eager;
  /// The target, for what depends on which instruction type takes a node.
  ops::PlanOptions plan;
  /// Called after each pass that ran, with its result and the seconds that it took.
  std::function<void(std::string_view pass, const ir::Graph& graph, double seconds)> observe;
};

struct Pass {
  std::string_view name;
  std::string_view switch_name;
  std::string_view summary;
  bool Options::* enabled;
  ir::Graph (*run)(const ir::Graph& graph, const Options& options);
};
std::span<const Pass> passes();
/// By the name of its switch. Throws OptionError listing the switches there are.
void switch_pass(Options& options, std::string_view switch_name, bool on);
/// By its own name. Throws OptionError listing the passes there are.
const Pass& find_pass(std::string_view name);

#define MK_PASS(name, switch_name, summary) ir::Graph name(const ir::Graph& graph, const Options& options);
#include "passes/passes.def"

/// Needs a verified graph; gives a verified one that computes the same: the same bits with Numerics::eager, but that a
/// function of constants alone is the host's, a unit in the last place from a GPU's. Builds other than Release verify
/// behind each pass.
ir::Graph run_pipeline(const ir::Graph& graph, const Options& options);

}  // namespace megakittens::passes
