#include "schedule/schedule.hpp"

#include "ops/user/registry.hpp"
#include "schedule/phases.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

void check_options(const program::Config& config) {
  if (config.cluster != 1 && config.cluster != 2)
    throw OptionError(fmt::format("cluster size {} is not possible; 1 and 2 are", config.cluster));
  if (config.sms == 0 || config.sms % config.cluster != 0)
    throw OptionError(fmt::format("{} SMs do not divide into clusters of {}", config.sms, config.cluster));
  if (config.slots < 1 || config.pages < 1)
    throw OptionError(fmt::format("{} slots and {} pages: at least one of each is needed", config.slots, config.pages));
}

std::vector<bool> written_roots(const ir::Graph& graph) {
  std::vector<bool> written(graph.values.size(), false);
  for (const ir::Node& node : graph.nodes)
    for (ir::ValueId output : node.outputs) written[graph.root(output)] = true;
  return written;
}

std::vector<NodeTiles> collect(const ir::Graph& graph, const Placement& placement) {
  const std::vector<bool> written = written_roots(graph);
  std::vector<NodeTiles> tiles;
  tiles.reserve(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n)
    tiles.push_back(collect_tiles(graph, graph.nodes[n], placement.nodes[n], written));
  return tiles;
}

}  // namespace

program::Program schedule(const ir::Graph& graph, const ScheduleOptions& options) {
  check_options(options.config);
  ir::expect_bound(graph);
  ir::verify(graph);
  const Placement placement = place(graph, options);
  const std::vector<NodeTiles> tiles = collect(graph, placement);
  StorageTable storages = assign_storages(graph, placement, options.config);
  const Stream stream = join_overflows(placement, connect(graph, placement, tiles, storages), options.config.cluster);
  program::Program program = emit(graph, options, placement, tiles, std::move(storages), stream);
  if (!options.resolve) ops::name_user_types(program);
  if (!options.resolve && verifies_schedules(!program.types.empty())) expect_verified(program);
  return program;
}

}  // namespace megakittens::schedule
