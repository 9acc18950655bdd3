#include "runtime/prepare.hpp"

namespace megakittens::runtime {

std::uint32_t usual_sms(program::Architecture architecture) {
  return architecture == program::Architecture::sm_90a ? 132 : 148;
}

program::Program prepare(const ir::Graph& graph, const PrepareOptions& options) {
  program::Config config;
  config.architecture = options.architecture;
  config.queue = options.queue;
  config.sms = options.sms == 0 ? usual_sms(options.architecture) : options.sms;
  config.cluster = options.cluster;
  passes::Options passes = options.passes;
  passes.plan = {.config = config, .tiling = options.tiling};
  return schedule::schedule(passes::run_pipeline(graph, passes),
                            {.config = config, .tiling = options.tiling, .name = {}, .resolve = {}});
}

}  // namespace megakittens::runtime
