// Schedules in the seed's own configuration, against numbers known to be right (tests/golden/mlp_*_sm100a.json).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schedule/schedule.hpp"
#include "support/files.hpp"
#include "support/golden.hpp"
#include "support/graphs.hpp"

namespace megakittens {
namespace {

using nlohmann::json;

json golden(const std::string& stem) {
  return json::parse(read_file(std::string(MK_SOURCE_DIR) + "/tests/golden/" + stem + ".json", 1 << 20));
}

program::Program schedule_mlp(const json& expected, const std::string& stem) {
  const json& shape = expected.at("graph");
  ir::Graph graph = test::mlp(shape.at("M"), shape.at("H"), shape.at("layers"));
  test::expect_golden("tests/golden/" + stem + ".mkg.json", ir::to_json(graph));
  program::Config config{.architecture = program::parse_architecture(expected.at("target").get<std::string>()),
                         .sms = expected.at("sms"),
                         .cluster = expected.at("cluster")};
  return schedule::schedule(graph, {.config = config, .tiling = ops::Tiling::seed, .name = {}, .resolve = {}});
}

void expect_totals(const program::Program& program, const json& expected) {
  EXPECT_EQ(program.instructions.size(), expected.at("instructions"));
  EXPECT_EQ(program.storages.size(), expected.at("tensor_slots"));
  EXPECT_EQ(program.counters.size(), expected.at("barriers"));
  if (expected.contains("waves")) {
    EXPECT_EQ(program.waves(), expected.at("waves"));
  }
  if (expected.contains("empty_slots")) {
    EXPECT_EQ(program.empty_slots(), expected.at("empty_slots"));
  }
}

std::string seed_op(const std::string& op) {
  return op == "matmul" ? "gemm" : op;
}

void expect_nodes(const program::Program& program, const json& expected) {
  ASSERT_EQ(program.nodes.size(), expected.size());
  for (std::size_t n = 0; n < expected.size(); ++n) {
    EXPECT_EQ(seed_op(program.nodes[n].op), expected[n].at("op"));
    EXPECT_EQ(program.nodes[n].first, expected[n].at("first"));
    EXPECT_EQ(program.nodes[n].count, expected[n].at("count"));
  }
}

/// The storage of the named input or of the named node's output.
std::uint32_t slot_of(const program::Program& program, const std::string& name) {
  for (const program::Port& port : program.inputs)
    if (port.name == name) return port.storage;
  for (std::size_t n = 0; n < program.nodes.size(); ++n) {
    const program::NodeRecord& record = program.records[n];
    if (program.nodes[n].name == name) return record.operands[record.operand_count - 1].storage;
  }
  ADD_FAILURE() << "no input or node is called " << name;
  return 0;
}

const program::NodeInfo& node_at(const program::Program& program, std::uint32_t instruction) {
  return program.nodes[program.records[program.instructions[instruction].node].number];
}

/// Who raises and who waits for each counter.
struct Users {
  std::vector<std::uint32_t> arrivers;
  std::vector<std::uint32_t> waiters;
};

std::vector<Users> users_of(const program::Program& program) {
  std::vector<Users> users(program.counters.size());
  for (const program::Instruction& instruction : program.instructions) {
    for (int a = 0; a < instruction.arrival_count; ++a)
      users[instruction.arrivals[a]].arrivers.push_back(instruction.number);
    for (int w = 0; w < instruction.wait_count; ++w)
      users[instruction.waits[w].counter].waiters.push_back(instruction.number);
  }
  return users;
}

bool accepts(const json& target, std::uint32_t value) {
  if (target.is_array()) return std::find(target.begin(), target.end(), json(value)) != target.end();
  return target == value;
}

void expect_barrier_groups(const program::Program& program, const json& groups) {
  const std::vector<Users> users = users_of(program);
  for (const json& group : groups) {
    for (std::uint32_t id = group.at("ids")[0]; id <= group.at("ids")[1].get<std::uint32_t>(); ++id) {
      SCOPED_TRACE("counter " + std::to_string(id));
      ASSERT_LT(id, program.counters.size());
      EXPECT_TRUE(accepts(group.at("target"), program.counters[id].arrivals)) << program.counters[id].arrivals;
      EXPECT_EQ(users[id].arrivers.size(), program.counters[id].arrivals);
      EXPECT_EQ(program.counters[id].reuse, group.contains("kind"));
      if (group.contains("producer")) {
        for (std::uint32_t i : users[id].arrivers) EXPECT_EQ(node_at(program, i).name, group.at("producer"));
      }
      if (group.contains("consumer")) {
        for (std::uint32_t i : users[id].waiters) EXPECT_EQ(node_at(program, i).name, group.at("consumer"));
      }
      if (group.contains("waiters")) {
        EXPECT_EQ(users[id].waiters.front(), group.at("waiters")[0]);
        EXPECT_EQ(users[id].waiters.back(), group.at("waiters")[1]);
        EXPECT_EQ(users[id].waiters.size(), users[id].waiters.back() - users[id].waiters.front() + 1);
      }
    }
  }
}

void expect_examples(const program::Program& program, const json& examples) {
  for (const json& example : examples) {
    const program::Instruction& instruction = program.instructions.at(example.at("instruction"));
    SCOPED_TRACE("instruction " + std::to_string(instruction.number));
    const json& waits = example.at("waits");
    ASSERT_EQ(instruction.wait_count, waits.size());
    for (std::size_t w = 0; w < waits.size(); ++w) {
      EXPECT_EQ(instruction.waits[w].counter, waits[w].at("barrier"));
      EXPECT_EQ(instruction.waits[w].needed, instruction.waits[w].arrivals);
      if (waits[w].contains("target")) {
        EXPECT_EQ(instruction.waits[w].needed, waits[w].at("target"));
      }
    }
    if (!example.contains("arrives")) continue;
    const std::vector<std::uint32_t> arrivals(instruction.arrivals, instruction.arrivals + instruction.arrival_count);
    EXPECT_EQ(json(arrivals), example.at("arrives"));
  }
}

}  // namespace

TEST(SeedSchedule, mlp_1024_matches_the_seed_group_by_group) {
  const json expected = golden("mlp_1024_sm100a");
  const program::Program program = schedule_mlp(expected, "mlp_1024_sm100a");
  expect_totals(program, expected);
  expect_nodes(program, expected.at("nodes"));
  for (const auto& [name, slot] : expected.at("slots").items()) EXPECT_EQ(slot_of(program, name), slot) << name;
  expect_barrier_groups(program, expected.at("barrier_groups"));
  expect_examples(program, expected.at("examples"));
}

TEST(SeedSchedule, mlp_4096_matches_the_seed) {
  const json expected = golden("mlp_4096_sm100a");
  expect_totals(schedule_mlp(expected, "mlp_4096_sm100a"), expected);
}

}  // namespace megakittens
