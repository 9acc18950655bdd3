#include "runtime/prepare.hpp"

#include "support/error.hpp"
#include "support/log.hpp"

namespace megakittens::runtime {

Numerics parse_numerics(std::string_view text) {
  if (text == "eager") return Numerics::eager;
  if (text == "fused") return Numerics::fused;
  throw OptionError(fmt::format("unknown numerics '{}'; known are eager, fused", text));
}

std::uint32_t usual_sms(program::Architecture architecture) {
  return architecture == program::Architecture::sm_90a ? 132 : 148;
}

ir::Graph optimise(const ir::Graph& graph, const PrepareOptions& options) {
  // The pass pipeline is called from here and from nowhere else; this build has no passes.
  if (options.fusion) log(LogLevel::debug, "runtime", "graph '{}': no fusion passes in this build", graph.name);
  return graph;
}

program::Program prepare(const ir::Graph& graph, const PrepareOptions& options) {
  program::Config config;
  config.architecture = options.architecture;
  config.queue = options.queue;
  config.sms = options.sms == 0 ? usual_sms(options.architecture) : options.sms;
  config.cluster = options.cluster;
  return schedule::schedule(optimise(graph, options),
                            {.config = config, .tiling = options.tiling, .name = {}, .resolve = {}});
}

}  // namespace megakittens::runtime
