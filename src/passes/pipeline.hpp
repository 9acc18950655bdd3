// The graph passes, in their order. Each is one free function in a file of its own.
#pragma once

#include "ir/graph.hpp"

namespace megakittens::passes {

enum class Numerics : std::uint8_t {
  eager,  ///< every operation rounds to its tensor's type, as PyTorch's eager does
  fused,  ///< a chain keeps fp32 between its operations
};

/// "eager" or "fused". Throws OptionError for anything else.
Numerics parse_numerics(std::string_view text);

struct Options {
  bool fusion = true;
  Numerics numerics = Numerics::eager;
};

/// Needs a verified graph; gives a verified one that computes the same: the same bits with Numerics::eager.
ir::Graph run_pipeline(const ir::Graph& graph, const Options& options);

}  // namespace megakittens::passes
