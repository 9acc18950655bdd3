#include "passes/pipeline.hpp"

#include "passes/fuse_pointwise.hpp"
#include "support/error.hpp"

namespace megakittens::passes {

Numerics parse_numerics(std::string_view text) {
  if (text == "eager") return Numerics::eager;
  if (text == "fused") return Numerics::fused;
  throw OptionError(fmt::format("numerics '{}' is unknown; known are 'eager' and 'fused'", text));
}

ir::Graph run_pipeline(const ir::Graph& graph, const Options& options) {
  ir::expect_bound(graph);
  ir::Graph result = graph;
  if (options.fusion) result = fuse_pointwise(result, options.numerics);
  ir::verify(result);
  return result;
}

}  // namespace megakittens::passes
