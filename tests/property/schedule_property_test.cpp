// Random graphs: every schedule is verified, by the verifier and by brute force, and any weakening is reported.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "program/program.hpp"
#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "support/fake_type.hpp"
#include "support/order_oracle.hpp"
#include "support/random_graph.hpp"

namespace megakittens::schedule {
namespace {

using program::Instruction;
using program::Program;

int pick(int low, int high) {
  return *rc::gen::inRange(low, high);
}

program::Config random_config() {
  program::Config config;
  config.architecture = pick(0, 2) == 0 ? program::Architecture::sm_90a : program::Architecture::sm_100a;
  config.queue = pick(0, 2) == 0 ? program::QueueMode::per_sm : program::QueueMode::global;
  config.cluster = static_cast<std::uint32_t>(pick(1, 3));
  config.sms = config.cluster * static_cast<std::uint32_t>(pick(1, 9));
  return config;
}

Program random_schedule(const ir::Graph& graph) {
  return schedule(graph, {.config = random_config(),
                          .tiling = pick(0, 2) == 0 ? ops::Tiling::automatic : ops::Tiling::seed,
                          .name = {},
                          .resolve = {}});
}

/// Lifetimes from the graph: nodes that touch a root value; values that go back to the caller live on.
struct Life {
  std::uint32_t storage = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<Life> lives(const ir::Graph& graph, const Program& program) {
  std::map<ir::ValueId, Life> by_root;
  auto touch = [&](ir::ValueId value, std::size_t node, std::uint32_t storage) {
    auto [entry, fresh] = by_root.try_emplace(graph.root(value), Life{storage, node, node});
    RC_ASSERT(entry->second.storage == storage);
    entry->second.last = node;
  };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    for (std::size_t k = 0; k < node.operands.size(); ++k)
      touch(node.operands[k].value, n, program.records[n].operands[k].storage);
    for (std::size_t o = 0; o < node.outputs.size(); ++o)
      touch(node.outputs[o], n, program.records[n].operands[node.operands.size() + o].storage);
  }
  for (const ir::Operand& output : graph.outputs)
    if (auto found = by_root.find(graph.root(output.value)); found != by_root.end())
      found->second.last = graph.nodes.size();
  std::vector<Life> result;
  for (const auto& [root, life] : by_root) result.push_back(life);
  return result;
}

/// Weakens one wait or arrival of the program; false where it has none.
bool weaken(Program& program) {
  std::vector<std::uint32_t> waiting;
  for (const Instruction& instruction : program.instructions)
    if (instruction.wait_count > 0) waiting.push_back(instruction.number);
  if (waiting.empty()) return false;
  Instruction& instruction = program.instructions[waiting[pick(0, static_cast<int>(waiting.size()))]];
  const int w = pick(0, instruction.wait_count);
  auto guard = [&](int i) -> std::uint8_t& { return i < 4 ? instruction.guards[i] : instruction.guards_high[i - 4]; };
  switch (pick(0, 3)) {
    case 0:  // drop it
      for (int i = w; i + 1 < instruction.wait_count; ++i) {
        instruction.waits[i] = instruction.waits[i + 1];
        guard(i) = guard(i + 1);
      }
      --instruction.wait_count;
      instruction.waits[instruction.wait_count] = {};
      guard(instruction.wait_count) = 0;
      break;
    case 1:  // let another operand have it
      guard(w) = static_cast<std::uint8_t>(1u << pick(0, 8));
      break;
    default:  // one arrival too early
      if (instruction.waits[w].needed == 1) return weaken(program);
      --instruction.waits[w].needed;
      break;
  }
  return true;
}

}  // namespace

RC_GTEST_PROP(ScheduleProperty, schedules_of_random_graphs_verify, ()) {
  const ir::Graph graph = test::random_graph(pick, {.nodes = pick(1, 14)});
  const Program program = random_schedule(graph);
  const std::vector<Finding> findings = verify(program);
  if (!findings.empty()) RC_FAIL(test::to_string(findings) + ir::to_string(graph));
}

RC_GTEST_PROP(ScheduleProperty, no_two_live_buffers_overlap, ()) {
  const ir::Graph graph = test::random_graph(pick, {.nodes = pick(4, 30), .extent = 40});
  const Program program = random_schedule(graph);
  const std::vector<Life> all = lives(graph, program);
  for (const Life& a : all)
    for (const Life& b : all)
      if (&a != &b && a.storage == b.storage) RC_ASSERT(a.last < b.first || b.last < a.first);
}

RC_GTEST_PROP(ScheduleProperty, all_forms_round_trip, ()) {
  const Program program = random_schedule(test::random_graph(pick, {.nodes = pick(1, 10)}));
  RC_ASSERT(program::equal(program::from_bytes(program::to_bytes(program)), program));
  RC_ASSERT(program::equal(program::from_text(program::to_text(program)), program));
}

// The verifier against brute force, on programs as scheduled and with one wait weakened.
RC_GTEST_PROP(ScheduleProperty, every_weakened_wait_is_reported_exactly_where_it_mattered, ()) {
  test::FakeType type;
  type.common = {.rows = pick(3, 20), .columns = pick(3, 20)};
  for (int n = 0; n < 10; n += pick(1, 3))
    type.tiles[fmt::format("n{}", n)] = {.rows = pick(2, 40), .columns = pick(2, 40)};
  const ir::Graph graph =
      test::random_graph(pick, {.nodes = pick(2, 10), .extent = 40, .products = false, .in_place = true});
  RC_PRE(std::ranges::all_of(graph.nodes, [&](const ir::Node& node) {
    const ir::Value& value = graph.value(node.outputs[0]);
    const ir::Extents& sizes = value.mutation ? value.mutation->view.sizes : value.tensor.shape;
    return sizes.size() <= 2 || std::ranges::all_of(sizes.begin(), sizes.end() - 2, [](auto s) { return s == 1; });
  }));
  Program program = schedule(graph, type.options(random_config()));
  const VerifyOptions options = type.verify_options();
  RC_PRE(program.instructions.size() < 600);
  const test::OrderOracle oracle(program, options);
  RC_ASSERT(oracle.unordered(program) == 0u);
  if (const auto findings = verify(program, options); !findings.empty())
    RC_FAIL(test::to_string(findings) + ir::to_string(graph));
  for (int round = 0; round < 10; ++round) {
    Program weak = program;
    if (!weaken(weak)) return;
    const std::vector<Finding> findings = verify(weak, options);
    const auto orders = std::ranges::count_if(
        findings, [](const Finding& f) { return f.rule != Rule::counts && f.rule != Rule::live_overlap; });
    const std::size_t unordered = oracle.unordered(weak);
    if ((orders > 0) != (unordered > 0))
      RC_FAIL(fmt::format("{} unordered pairs, findings:\n{}", unordered, test::to_string(findings)));
  }
}

}  // namespace megakittens::schedule
