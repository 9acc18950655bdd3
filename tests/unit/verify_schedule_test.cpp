#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "ir/builder.hpp"
#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "schedule/verify_space.hpp"
#include "support/environment.hpp"
#include "support/error.hpp"
#include "support/fake_type.hpp"
#include "support/graphs.hpp"

namespace megakittens::schedule {
namespace {

using ir::DType;
using ir::Handle;
using program::Instruction;
using program::Program;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// The seed's MLP: one reuse, pairs, row panels.
Program seed_mlp() {
  const program::Config config{.architecture = program::Architecture::sm_100a, .sms = 148};
  return schedule(test::mlp(1024, 1024, 3), {.config = config, .tiling = ops::Tiling::seed, .name = {}, .resolve = {}});
}

/// x -> r0 -> r1 -> ...: [256, 64] in two tiles, two SMs.
Program chain(int nodes, program::QueueMode queue = program::QueueMode::per_sm) {
  ir::Builder builder("chain");
  Handle x = builder.input("x", DType::bf16, {256, 64});
  for (int i = 0; i < nodes; ++i) {
    builder.at(fmt::format("r{}", i), "");
    x = builder.relu(x);
  }
  builder.output(x);
  return schedule(builder.build(), test::FakeType{}.options({.queue = queue, .sms = 2, .cluster = 1}));
}

std::vector<Finding> findings(const Program& program) {
  const test::FakeType type;
  return verify(program, type.verify_options());
}

void drop_wait(Instruction& instruction, int w) {
  auto guard = [&](int i) -> std::uint8_t& { return i < 4 ? instruction.guards[i] : instruction.guards_high[i - 4]; };
  for (int i = w; i + 1 < instruction.wait_count; ++i) {
    instruction.waits[i] = instruction.waits[i + 1];
    guard(i) = guard(i + 1);
  }
  --instruction.wait_count;
  instruction.waits[instruction.wait_count] = {};
  guard(instruction.wait_count) = 0;
}

testing::Matcher<const Finding&> is(Rule rule) {
  return Field(&Finding::rule, rule);
}

/// Regions of bytes that the test names: {offset, sizes and strides}.
ops::Region bytes(std::int64_t offset, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
  return {.storage = 0,
          .operand = 0,
          .write = false,
          .type = program::ElementType::boolean,
          .offset = offset,
          .sizes = std::move(sizes),
          .strides = std::move(strides)};
}

/// Bytes that two regions share, by cells and by brute force.
void expect_same_overlap(const std::vector<ops::Region>& regions) {
  std::vector<ByteRegion> list;
  std::vector<std::set<std::int64_t>> held;
  for (const ops::Region& region : regions) {
    list.push_back(ByteRegion::of(region));
    std::set<std::int64_t> own{region.offset};
    for (std::size_t d = 0; d < region.sizes.size(); ++d) {
      std::set<std::int64_t> next;
      for (std::int64_t at : own)
        for (std::int64_t i = 0; i < region.sizes[d]; ++i) next.insert(at + i * region.strides[d]);
      own = next;
    }
    held.push_back(own);
  }
  const CellSpace space(list);
  std::vector<std::set<std::size_t>> cells(regions.size());
  for (std::size_t r = 0; r < regions.size(); ++r)
    space.for_each_cell(r, [&](std::size_t cell) { cells[r].insert(cell); });
  auto meet = [](const auto& a, const auto& b) {
    return std::ranges::any_of(a, [&](auto x) { return b.count(x) > 0; });
  };
  for (std::size_t a = 0; a < regions.size(); ++a)
    for (std::size_t b = 0; b < regions.size(); ++b)
      EXPECT_EQ(meet(cells[a], cells[b]), meet(held[a], held[b])) << "regions " << a << " and " << b;
}

}  // namespace

TEST(VerifySchedule, dropping_any_wait_of_the_mlp_is_reported) {
  const Program program = seed_mlp();
  ASSERT_THAT(verify(program), IsEmpty());
  for (const Instruction& instruction : program.instructions)
    for (int w = 0; w < instruction.wait_count; ++w) {
      Program weak = program;
      drop_wait(weak.instructions[instruction.number], w);
      const auto found = verify(weak);
      EXPECT_THAT(found, Not(IsEmpty())) << "instruction " << instruction.number << ", wait " << w;
      EXPECT_THAT(found, Each(Field(&Finding::instruction, instruction.number)));
    }
}

TEST(VerifySchedule, weakening_any_target_of_the_mlp_is_reported) {
  const Program program = seed_mlp();
  for (const Instruction& instruction : program.instructions)
    for (int w = 0; w < instruction.wait_count; ++w) {
      if (instruction.waits[w].needed == 1) continue;
      Program weak = program;
      --weak.instructions[instruction.number].waits[w].needed;
      EXPECT_THAT(verify(weak), testing::Contains(is(Rule::counts))) << "instruction " << instruction.number;
    }
}

TEST(VerifySchedule, a_wait_for_the_wrong_counter_is_reported) {
  const Program program = seed_mlp();
  for (std::uint32_t i = 208; i < 240; i += 7) {
    Program weak = program;
    program::Wait& wait = weak.instructions[i].waits[0];
    wait.counter = wait.counter == 92 ? 93 : wait.counter - 1;
    EXPECT_THAT(verify(weak), testing::Contains(is(Rule::read_after_write)));
  }
}

TEST(VerifySchedule, a_finding_names_instructions_nodes_storage_and_region) {
  Program program = chain(3);
  drop_wait(program.instructions[3], 0);
  const auto found = findings(program);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].other, 1u);
  EXPECT_EQ(
      found[0].text,
      "read after write: instruction 3 (relu of node 'r1') reads bytes 16384 + 16384 of storage 1 'r0' as operand "
      "0 without waiting for instruction 1 (relu of node 'r0'), which writes bytes 16384 + 16384");
}

TEST(VerifySchedule, a_forgotten_reuse_wait_is_write_after_read) {
  Program program = chain(6);
  bool found_one = false;
  for (Instruction& instruction : program.instructions)
    for (int w = 0; w < instruction.wait_count; ++w) {
      if (instruction.guard(w) != program::kGuardWrite) continue;
      Program weak = program;
      drop_wait(weak.instructions[instruction.number], w);
      EXPECT_THAT(findings(weak), AllOf(Not(IsEmpty()), Each(is(Rule::write_after_read))));
      found_one = true;
    }
  EXPECT_TRUE(found_one);
}

TEST(VerifySchedule, a_forgotten_wait_for_the_last_writer_is_write_after_write) {
  ir::Builder builder("overwrites");
  Handle x = builder.input("x", DType::bf16, {256, 64});
  const Handle y = builder.input("y", DType::bf16, {256, 64});
  builder.output(builder.assign(builder.assign(x, y), y));
  const test::FakeType type;
  Program program = schedule(builder.build(), type.options({.sms = 2, .cluster = 1}));
  EXPECT_THAT(findings(program), IsEmpty());
  Instruction& second = program.instructions[2];
  ASSERT_EQ(second.wait_count, 1);
  ASSERT_EQ(second.guard(0), program::kGuardWrite);
  drop_wait(second, 0);
  EXPECT_THAT(findings(program), AllOf(Not(IsEmpty()), Each(is(Rule::write_after_write))));
}

TEST(VerifySchedule, programs_are_verified_as_they_are_made_where_the_option_says_so) {
  {
    const test::ScopedVariable on("MEGAKITTENS_VERIFY", "on");
    EXPECT_TRUE(verifies_schedules());
    EXPECT_NO_THROW(seed_mlp());
  }
  {
    const test::ScopedVariable off("MEGAKITTENS_VERIFY", "off");
    EXPECT_FALSE(verifies_schedules());
  }
  const test::ScopedVariable wrong("MEGAKITTENS_VERIFY", "perhaps");
  EXPECT_THROW(seed_mlp(), OptionError);
}

TEST(VerifySchedule, a_wrong_schedule_is_a_defect_of_ours) {
  Program program = seed_mlp();
  EXPECT_NO_THROW(expect_verified(program));
  for (Instruction& instruction : program.instructions)
    while (instruction.wait_count > 0) drop_wait(instruction, 0);
  try {
    expect_verified(program);
    FAIL() << "nothing was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the schedule of 'mlp' is wrong:\n[read after write] "));
  }
}

TEST(VerifySchedule, a_wait_that_guards_another_operand_orders_nothing_for_this_one) {
  Program program = chain(3);
  program.instructions[3].guards[0] = program::kGuardWrite;
  EXPECT_THAT(findings(program), testing::ElementsAre(is(Rule::read_after_write)));
  program.instructions[3].guards[0] = 1u << 5;
  EXPECT_THAT(findings(program), Not(IsEmpty())) << "no role waits for an operand that does not exist";
}

TEST(VerifySchedule, an_arrival_too_many_or_too_few_is_a_wrong_count) {
  Program program = chain(3);
  program.instructions[0].arrivals[--program.instructions[0].arrival_count] = 0;
  EXPECT_THAT(findings(program), testing::Contains(is(Rule::counts)));
  program = chain(3);
  Instruction& instruction = program.instructions[0];
  instruction.arrivals[instruction.arrival_count++] = 1;
  EXPECT_THAT(findings(program), testing::Contains(is(Rule::counts)));
}

TEST(VerifySchedule, limits_of_the_format_are_reported_not_followed) {
  Program program = chain(3);
  program.instructions[2].waits[0].counter = 1000;
  EXPECT_THAT(findings(program), testing::ElementsAre(is(Rule::bounds)));
}

TEST(VerifySchedule, a_release_order_that_is_none_is_reported) {
  Program program = seed_mlp();
  program.instructions[5].release_order[0] = 0x76543200;
  EXPECT_THAT(verify(program), Contains(AllOf(is(Rule::page_maps), Field(&Finding::instruction, 5u),
                                              Field(&Finding::text, HasSubstr("does not name each of 7 once")))));
}

TEST(VerifySchedule, page_maps_of_a_pair_that_differ_are_reported) {
  Program program = seed_mlp();
  const std::uint32_t order = program.instructions[7].release_order[0];
  program.instructions[7].release_order[0] = (order & ~0xffu) | (order & 15) << 4 | (order >> 4 & 15);
  EXPECT_THAT(verify(program),
              ElementsAre(AllOf(is(Rule::page_maps), Field(&Finding::instruction, 7u), Field(&Finding::other, 6u))));
  program.config.queue = program::QueueMode::global;  // no pairs there
  EXPECT_THAT(verify(program), IsEmpty());
}

// An odd number of tiles whose release order depends on their depth, then something else.
TEST(VerifySchedule, padding_keeps_the_page_maps_of_a_pair_equal) {
  ir::Builder builder("odd");
  const Handle x = builder.input("x", DType::bf16, {128, 192}), w = builder.input("w", DType::bf16, {192, 256});
  builder.output(builder.relu(builder.matmul(x, w)));
  const Program program =
      schedule(builder.build(), {.config = {.sms = 4}, .tiling = ops::Tiling::seed, .name = {}, .resolve = {}});
  ASSERT_EQ(program.instructions[1].icode, 0);
  ASSERT_NE(program.instructions[0].release_order[0], static_cast<std::uint32_t>(program::kReleaseInOrder));
  EXPECT_EQ(program.instructions[1].release_order[0], program.instructions[0].release_order[0]);
  EXPECT_THAT(verify(program), IsEmpty());
}

TEST(VerifySchedule, waits_in_a_circle_are_a_deadlock) {
  Program program = chain(3);
  // r0's first tile waits for r1's first tile, which waits for it.
  Instruction& first = program.instructions[0];
  first.waits[first.wait_count++] = {.counter = program.instructions[2].arrivals[0], .needed = 1, .arrivals = 1};
  first.guards[0] = 1;
  EXPECT_THAT(findings(program),
              testing::Contains(AllOf(is(Rule::deadlock), Field(&Finding::text, HasSubstr("cycle")))));
}

TEST(VerifySchedule, a_wait_for_a_later_instruction_of_the_same_list_is_a_deadlock) {
  Program program = chain(2);
  Instruction& first = program.instructions[1];
  // Instruction 3 follows on the same SM. It no longer waits, so only the queue closes the circle.
  program.counters.push_back({.arrivals = 1});
  const auto counter = static_cast<std::uint32_t>(program.counters.size() - 1);
  Instruction& later = program.instructions[3];
  later.arrivals[later.arrival_count++] = counter;
  drop_wait(later, 0);
  first.waits[first.wait_count++] = {.counter = counter, .needed = 1, .arrivals = 1};
  first.guards[0] = 1;
  EXPECT_THAT(findings(program), testing::Contains(is(Rule::deadlock)));
}

TEST(VerifySchedule, other_orders_than_topological_are_accepted_in_lists_but_not_in_the_global_queue) {
  // Instruction 1 waits for instruction 2, which runs on the other SM.
  auto later = [](program::QueueMode queue) {
    Program program = chain(2, queue);
    program.counters.push_back({.arrivals = 1});
    const auto counter = static_cast<std::uint32_t>(program.counters.size() - 1);
    Instruction& from = program.instructions[2];
    from.arrivals[from.arrival_count++] = counter;
    Instruction& to = program.instructions[1];
    to.waits[to.wait_count++] = {.counter = counter, .needed = 1, .arrivals = 1};
    to.guards[0] = 1;
    return program;
  };
  EXPECT_THAT(findings(later(program::QueueMode::per_sm)), IsEmpty());
  EXPECT_THAT(findings(later(program::QueueMode::global)), testing::Contains(is(Rule::deadlock)));
}

TEST(VerifySchedule, reading_what_nobody_wrote_is_reported) {
  Program program = chain(3);
  program.instructions[1].icode = 0;
  EXPECT_THAT(findings(program), testing::Contains(AllOf(is(Rule::never_written), Field(&Finding::instruction, 3u))));
  program = chain(1);
  program.instructions[1].icode = 0;
  EXPECT_THAT(findings(program),
              testing::ElementsAre(AllOf(is(Rule::never_written), Field(&Finding::text, HasSubstr("returned")))));
}

TEST(VerifySchedule, a_region_past_its_storage_is_reported) {
  Program program = chain(2);
  program.storages[1].bytes /= 2;
  program.records[0].operands[1].sizes[2] = 128;
  program.records[1].operands[0].sizes[2] = 128;
  EXPECT_THAT(findings(program), Not(testing::Contains(is(Rule::outside)))) << "clipped to what the operand shows";
  program.storages[1].bytes = 128;
  EXPECT_THAT(findings(program), testing::ElementsAre(is(Rule::bounds)));
}

TEST(VerifySchedule, a_value_overwritten_before_its_last_reader_is_reported) {
  // r0's storage is given to r1's output, though r3 still waits for r0 and reads it; all waits are in place otherwise.
  ir::Builder builder("live");
  const Handle x = builder.input("x", DType::bf16, {128, 64});
  const Handle a = builder.relu(x);
  const Handle b = builder.relu(a);
  const Handle c = builder.relu(b);
  builder.output(builder.add(a, c));
  Program program = schedule(builder.build(), test::FakeType{}.options({.sms = 1, .cluster = 1}));
  ASSERT_THAT(findings(program), IsEmpty());
  const std::uint32_t shared = program.records[0].operands[1].storage;
  program.records[1].operands[1].storage = shared;
  program.records[2].operands[0].storage = shared;
  program.instructions[1].guards[0] |= program::kGuardWrite;
  program.instructions[3].guards[0] |= program.instructions[3].guards[1];
  program.instructions[3].guards[1] = program.instructions[3].guards[0];
  EXPECT_THAT(findings(program), testing::ElementsAre(is(Rule::live_overlap)));
}

TEST(VerifySchedule, findings_stop_at_the_number_asked_for) {
  Program program = seed_mlp();
  for (Instruction& instruction : program.instructions)
    while (instruction.wait_count > 0) drop_wait(instruction, 0);
  EXPECT_EQ(verify(program, {.most = 7, .type_of = {}}).size(), 7u);
}

TEST(CellSpace, regions_of_one_pitch_meet_where_their_bytes_do) {
  expect_same_overlap({bytes(0, {4, 8}, {32, 1}), bytes(8, {4, 8}, {32, 1}), bytes(4, {2, 8}, {32, 1}),
                       bytes(64, {2, 32}, {32, 1}), bytes(0, {8, 1}, {32, 1})});
}

TEST(CellSpace, regions_of_several_pitches_meet_where_their_bytes_do) {
  expect_same_overlap({bytes(0, {4, 16}, {64, 1}), bytes(0, {16, 4}, {16, 1}), bytes(20, {3, 4}, {16, 1}),
                       bytes(100, {100}, {1}), bytes(3, {20}, {4}), bytes(130, {2, 3, 2}, {64, 16, 1}),
                       bytes(60, {2, 16}, {64, 1})});
}

TEST(CellSpace, regions_whose_pitches_do_not_divide_each_other_meet_where_their_bytes_do) {
  expect_same_overlap({bytes(0, {4, 5}, {24, 1}), bytes(2, {4, 5}, {20, 1}), bytes(40, {7}, {9}), bytes(55, {1}, {1}),
                       bytes(0, {3, 4, 2}, {40, 12, 1})});
}

TEST(CellSpace, a_region_without_elements_has_no_cells) {
  expect_same_overlap({bytes(0, {4, 4}, {4, 1})});
  const std::vector<ByteRegion> none{ByteRegion::of(bytes(0, {0, 4}, {4, 1}))};
  const CellSpace space(none);
  space.for_each_cell(0, [](std::size_t) { FAIL(); });
}

}  // namespace megakittens::schedule
