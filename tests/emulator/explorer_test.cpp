// Interleavings: strategies, records that replay exactly, shrinking, and what an exploration says.
#include "emulator/explorer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "emulator/named_faults.hpp"
#include "emulator/recording.hpp"
#include "fixture.hpp"
#include "support/checked_programs.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

/// A program of checked_programs.cpp with a fault, or none, and its inputs.
struct Subject {
  program::Program program;
  StorageContents inputs;

  explicit Subject(std::string_view name, ProgramFault fault = ProgramFault::none) {
    const test::CheckedProgram& checked = test::checked_program(name);
    program = test::prepare(checked);
    EXPECT_TRUE(plant(program, fault));
    inputs = test::random_contents(checked.graph(), program, 1);
  }
};

RunOptions options_of(Strategy strategy, std::uint64_t seed, bool arithmetic = false) {
  RunOptions options;
  options.seed = seed;
  options.arithmetic = arithmetic;
  options.interleaving.strategy = strategy;
  return options;
}

class Strategies : public testing::TestWithParam<Strategy> {};
INSTANTIATE_TEST_SUITE_P(All, Strategies, testing::Values(Strategy::random, Strategy::pct),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST_P(Strategies, a_run_is_a_function_of_its_seed) {
  const Subject subject("products");
  Rehearsal rehearsal(subject.program, subject.inputs);
  const Interleaving first = record(rehearsal, options_of(GetParam(), 5));
  EXPECT_EQ(record(rehearsal, options_of(GetParam(), 5)), first);
  EXPECT_NE(record(rehearsal, options_of(GetParam(), 6)), first);
}

TEST_P(Strategies, a_record_replays_move_by_move) {
  const Subject subject("products", ProgramFault::needed_too_few);
  Rehearsal rehearsal(subject.program, subject.inputs);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    RunOptions options = options_of(GetParam(), seed);
    options.interleaving.record = true;
    const Report run = rehearsal.run(options);
    ASSERT_FALSE(run.interleaving.empty());
    options.interleaving.replay = &run.interleaving;
    const Report again = rehearsal.run(options);
    EXPECT_EQ(again.interleaving, run.interleaving);
    EXPECT_EQ(again.text(), run.text());
    EXPECT_EQ(again.steps, run.steps);
  }
}

TEST_P(Strategies, a_failing_schedule_shrinks_and_still_fails) {
  const Subject subject("products", ProgramFault::needed_too_few);
  ExploreOptions explore_options;
  explore_options.run = options_of(GetParam(), 1);
  explore_options.schedules = 50;
  const Exploration exploration = explore(subject.program, subject.inputs, explore_options);
  const std::string name = "unwritten";  // not in the usual order: the reader must come first
  const auto found = std::ranges::find(exploration.found, name, &Found::name);
  ASSERT_NE(found, exploration.found.end());
  Rehearsal rehearsal(subject.program, subject.inputs);
  const RunOptions options = options_of(GetParam(), found->seed);
  const Interleaving moves = record(rehearsal, options);
  const Shrunk small = shrink(rehearsal, options, moves, name, 300);
  EXPECT_LT(small.moves.size(), moves.size() / 4);
  EXPECT_LE(small.runs, 300u);
  RunOptions replay = options;
  replay.interleaving.replay = &small.moves;
  const std::vector<std::string> names = rehearsal.run(replay).names();
  EXPECT_NE(std::ranges::find(names, name), names.end());
}

TEST(Interleavings, a_replay_leaves_out_who_cannot_move) {
  const Subject subject("products");
  Rehearsal rehearsal(subject.program, subject.inputs);
  RunOptions options = options_of(Strategy::random, 3);
  Interleaving moves = record(rehearsal, options);
  for (std::size_t i = 0; i < moves.size(); i += 3) moves[i].mover = {147, 15, 9};
  std::reverse(moves.begin(), moves.end());
  options.interleaving.replay = &moves;
  EXPECT_TRUE(rehearsal.run(options).ok());
}

// Three CTAs raise a counter once each; the fourth waits until it is exactly two.
TEST(Interleavings, a_waiter_may_see_more_than_it_waits_for) {
  std::vector<std::uint32_t> counter(1, 0);
  LaunchConfig config;
  config.grid = 4;
  config.buffers = {buffer("counter", counter)};
  auto kernel = [&] {
    if (ptx::ctaid_x() != 0) return device::one_lane([&] { ptx::red_release_gpu_add_u32(counter.data(), 1); });
    while (ptx::ld_acquire_gpu_u32(counter.data()) != 2) {
    }
  };
  for (const Strategy strategy : {Strategy::random, Strategy::pct}) {
    config.interleaving = {.strategy = strategy, .expected_steps = 8};
    int stuck = 0;
    for (config.seed = 1; config.seed <= 60; ++config.seed) {
      counter[0] = 0;
      stuck += run(config, kernel).deadlock.empty() ? 0 : 1;
    }
    EXPECT_GT(stuck, 0) << name_of(strategy);
    EXPECT_LT(stuck, 60) << name_of(strategy);
  }
}

TEST(Explore, several_threads_find_what_one_does) {
  const Subject subject("products", ProgramFault::needed_too_few);
  ExploreOptions options;
  options.schedules = 40;
  options.run.arithmetic = false;
  const Exploration one = explore(subject.program, subject.inputs, options);
  options.threads = 3;
  std::uint64_t calls = 0;
  options.progress = [&](std::uint64_t, std::size_t) { calls++; };
  const Exploration three = explore(subject.program, subject.inputs, options);
  EXPECT_EQ(calls, 40u);
  EXPECT_EQ(one.failing, three.failing);
  EXPECT_EQ(one.first_failure, three.first_failure);
  ASSERT_EQ(one.found.size(), three.found.size());
  for (const Found& found : one.found) {
    const auto same = std::ranges::find(three.found, found.text, &Found::text);
    ASSERT_NE(same, three.found.end()) << found.text;
    EXPECT_EQ(same->seed, found.seed);
    EXPECT_EQ(same->schedules, found.schedules);
  }
}

TEST(Explore, stops_at_the_first_failure_where_asked) {
  const Subject subject("products", ProgramFault::wait_dropped);
  ExploreOptions options;
  options.schedules = 1000;
  options.stop_at_first = true;
  const Exploration exploration = explore(subject.program, subject.inputs, options);
  EXPECT_FALSE(exploration.ok());
  EXPECT_LT(exploration.schedules, 100u);
}

// Without the checker, a missing wait shows in the values alone.
TEST(Explore, results_that_depend_on_the_schedule_are_a_finding) {
  const Subject subject("products", ProgramFault::wait_dropped);
  ExploreOptions options;
  options.run.check = false;
  options.schedules = 50;
  const Exploration exploration = explore(subject.program, subject.inputs, options);
  EXPECT_TRUE(exploration.has("results"));
  EXPECT_GT(exploration.failing, 0u);
}

TEST(Explore, a_finding_names_nodes_and_boxes) {
  const Subject subject("products", ProgramFault::wait_dropped);
  ExploreOptions options;
  options.schedules = 5;
  const Exploration exploration = explore(subject.program, subject.inputs, options);
  ASSERT_TRUE(exploration.has("not-released"));
  const auto found = std::ranges::find(exploration.found, std::string("not-released"), &Found::name);
  EXPECT_EQ(found->row, 10);
  EXPECT_NE(found->text.find("(matmul of node 'matmul"), std::string::npos) << found->text;
  EXPECT_NE(found->text.find("reads operand 0, '"), std::string::npos) << found->text;
  EXPECT_NE(found->text.find(", 0:256]"), std::string::npos) << found->text;
}

TEST(Explore, a_deadlock_names_nodes) {
  const Subject subject("products", ProgramFault::arrival_dropped);
  ExploreOptions options;
  options.schedules = 2;
  const Exploration exploration = explore(subject.program, subject.inputs, options);
  const auto found = std::ranges::find(exploration.found, std::string("deadlock"), &Found::name);
  ASSERT_NE(found, exploration.found.end());
  EXPECT_NE(found->text.find("is matmul of node 'matmul"), std::string::npos) << found->text;
}

TEST(Explore, an_icode_that_nobody_has_is_refused) {
  Subject subject("products");
  subject.program.instructions[0].icode = 999;
  EXPECT_THROW(Rehearsal(subject.program, subject.inputs), FormatError);
}

TEST(Explore, an_input_of_the_wrong_size_is_refused) {
  Subject subject("products");
  for (auto& storage : subject.inputs)
    if (!storage.empty()) storage.pop_back();
  EXPECT_THROW(Rehearsal(subject.program, subject.inputs), UserError);
}

Recording some_recording() {
  return {.program = "p",
          .program_hash = "00",
          .finding = "deadlock",
          .faults = {"wait-forgotten", "x:role=\"y\""},
          .seed = UINT64_MAX,
          .input_seed = 7,
          .arithmetic = false,
          .strict = true,
          .moves = {{{1, 2, 0}, 5}, {{147, 15, UINT32_MAX}, 0}}};
}

TEST(Recordings, round_trip) {
  EXPECT_EQ(recording_from_json(to_json(some_recording()), "f"), some_recording());
  Recording empty = some_recording();
  empty.moves.clear();
  EXPECT_EQ(recording_from_json(to_json(empty), "f"), empty);
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = to_json(some_recording());
  text.replace(text.find(from), from.size(), to);
  try {
    recording_from_json(text, "file.json");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Recordings, of_another_version_or_with_impossible_numbers_are_refused) {
  EXPECT_NE(refusal("\"megakittens_schedule\": 1", "\"megakittens_schedule\": 2").find("version 2"), std::string::npos);
  EXPECT_NE(refusal("[147, 15", "[148, 15").find("no such CTA or warp"), std::string::npos);
  EXPECT_NE(refusal("[1, 2, 0, 5]", "[1, 2, 0]").find("a move is"), std::string::npos);
  EXPECT_NE(refusal("[1, 2, 0, 5]", "[1, 2, -1, 5]").find("file.json"), std::string::npos);
  EXPECT_NE(refusal("\"18446744073709551615\"", "\"one\"").find("not a seed"), std::string::npos);
  EXPECT_NE(refusal("\"strict\": true", "\"strict\": true, \"more\": 1"), "accepted");
}

TEST(Recordings, of_another_program_do_not_fit) {
  const Subject subject("products"), other("tiles");
  Recording recording = some_recording();
  recording.program_hash = hash_of(subject.program);
  EXPECT_NO_THROW(expect_fit(recording, subject.program, "f"));
  EXPECT_THROW(expect_fit(recording, other.program, "f"), OptionError);
}

}  // namespace
}  // namespace megakittens::emulator
