#include "cli/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ops/instruction_type.hpp"

namespace megakittens::cli {
namespace {

/// A product is called by the name of what computes it.
std::string op_name(const program::NodeInfo& node) {
  return node.op == "matmul" ? "gemm" : node.op;
}

std::vector<std::string> icode_names(const program::Program& program) {
  std::set<std::uint16_t> used;
  for (const program::NodeInfo& node : program.nodes) used.insert(node.icode);
  std::vector<std::string> names;
  for (const std::uint16_t icode : used) names.emplace_back(ops::icode_name(icode));
  return names;
}

}  // namespace

Json summary_json(const program::Program& program) {
  const std::vector<std::string> icodes = icode_names(program);
  Json json{{"name", program.name},
            {"target", program::name_of(program.config.architecture)},
            {"sms", program.config.sms},
            {"cluster", program.config.cluster},
            {"queue", program::name_of(program.config.queue)},
            {"instructions", program.instructions.size()},
            {"empty_slots", program.empty_slots()},
            {"waves", program.waves()},
            {"tensor_slots", program.storages.size()},
            {"barriers", program.counters.size()},
            {"icodes", icodes.size()},
            {"icode_names", icodes}};
  Json nodes = Json::array();
  for (const program::NodeInfo& node : program.nodes)
    nodes.push_back({{"name", node.name},
                     {"op", op_name(node)},
                     {"first", node.first},
                     {"count", node.count},
                     {"icode", ops::icode_name(node.icode)},
                     {"source", node.source}});
  json["nodes"] = std::move(nodes);
  return json;
}

std::string summary_text(const program::Program& program) {
  const program::Config& config = program.config;
  const auto reuse = std::count_if(program.counters.begin(), program.counters.end(),
                                   [](const program::Counter& counter) { return counter.reuse; });
  std::uint64_t bytes = 0;
  for (const program::Storage& storage : program.storages) bytes += storage.bytes;
  std::string text =
      fmt::format("program '{}' for {}: {} SMs in clusters of {}, {} queue\n", program.name,
                  program::name_of(config.architecture), config.sms, config.cluster, program::name_of(config.queue));
  text += fmt::format("  instructions  {} in {} waves, {} empty slots\n", program.instructions.size(), program.waves(),
                      program.empty_slots());
  text += fmt::format("  tensor slots  {}, {}\n", program.storages.size(), bytes_text(static_cast<double>(bytes)));
  text +=
      fmt::format("  barriers      {}, {} of them for storage that is used again\n", program.counters.size(), reuse);
  text += fmt::format("  icodes        {}\n", fmt::join(icode_names(program), ", "));
  return text;
}

std::string node_table(const program::Program& program) {
  std::vector<std::vector<std::string>> rows;
  for (const program::NodeInfo& node : program.nodes)
    rows.push_back({node.name, op_name(node), std::to_string(node.first), std::to_string(node.count),
                    std::string(ops::icode_name(node.icode)), bytes_text(static_cast<double>(node.bytes)),
                    fmt::format("{:.3g}", static_cast<double>(node.operations) * 1e-9), node.source});
  return table({"node", "op", ">first", ">count", "icode", ">moves", ">GFLOP", "source"}, rows);
}

}  // namespace megakittens::cli
