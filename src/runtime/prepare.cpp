#include "runtime/prepare.hpp"

namespace megakittens::runtime {

program::Program prepare(const ir::Graph& graph, const PrepareOptions& options) {
  const program::Target& target = program::target_of(options.architecture);
  const program::Config config{.architecture = options.architecture,
                               .queue = options.queue,
                               .sms = options.sms == 0 ? target.sms : options.sms,
                               .cluster = options.cluster,
                               .slots = target.family.slots,
                               .pages = target.family.pages,
                               .page_bytes = target.family.page_bytes};
  passes::Options passes = options.passes;
  passes.plan = {.config = config, .tiling = options.tiling};
  return schedule::schedule(passes::run_pipeline(graph, passes), {.config = config, .tiling = options.tiling});
}

}  // namespace megakittens::runtime
