#include "program/program.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "schedule/schedule.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"

namespace megakittens::program {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

Program mlp() {
  return schedule::schedule(test::mlp(256, 512, 2),
                            {.config = {.sms = 4}, .tiling = ops::Tiling::automatic, .name = "small", .resolve = {}});
}

/// The message of the FormatError that `read` throws; empty where it throws none.
template <typename Read>
std::string format_error(Read&& read) {
  try {
    read();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

std::string bounds_error(const Program& program) {
  return format_error([&] { verify_bounds(program); });
}

}  // namespace

TEST(Program, names_parse_back_and_unknown_ones_list_the_known) {
  EXPECT_EQ(parse_architecture("sm_100a"), Architecture::sm_100a);
  EXPECT_EQ(parse_queue_mode(name_of(QueueMode::global)), QueueMode::global);
  EXPECT_EQ(ir::parse_dtype(name_of(ElementType::boolean)), ElementType::boolean);
  EXPECT_EQ(size_of(ElementType::i64), 8);
  EXPECT_EQ(name_of(CodeOp::silu_round_mul_round), "silu_round_mul_round");
  try {
    parse_architecture("sm_80");
    FAIL() << "no error was thrown";
  } catch (const OptionError& error) {
    EXPECT_STREQ(error.what(), "unknown target 'sm_80'; known are sm_90a, sm_100a, sm_103a");
  }
}

TEST(Program, waves_and_empty_slots_count_places_of_the_lists) {
  Program program;
  program.config.sms = 148;
  program.instructions.resize(240);
  EXPECT_EQ(program.waves(), 2u);
  EXPECT_EQ(program.empty_slots(), 56u);
  program.config.queue = QueueMode::global;
  EXPECT_EQ(program.empty_slots(), 0u);
}

TEST(Program, both_forms_round_trip) {
  Program program = mlp();
  program.nodes[0].source = "a \"quoted\" line\nand \\ another";
  program.records[0].constants[0] = -1.5e-39f;
  program.records[0].constant_count = 1;
  program.storages[1].device = 3;
  program.counters[0].scope = CounterScope::system;
  EXPECT_TRUE(equal(from_bytes(to_bytes(program)), program));
  EXPECT_TRUE(equal(from_text(to_text(program)), program)) << to_text(program).substr(0, 2000);
}

TEST(Program, a_text_that_is_too_long_to_be_read_is_not_written) {
  Program program;
  program.name.assign(65536, 'a');
  EXPECT_EQ(from_bytes(to_bytes(program)).name, program.name);
  program.name += 'b';
  EXPECT_THAT([&] { to_bytes(program); },
              ThrowsMessage<CapacityError>(
                  AllOf(HasSubstr("cannot hold 'aaaa"), HasSubstr("a text of 65537 bytes, and 65536 are possible"))));
}

TEST(Program, an_empty_program_round_trips) {
  EXPECT_TRUE(equal(from_bytes(to_bytes(Program{})), Program{}));
  EXPECT_TRUE(equal(from_text(to_text(Program{})), Program{}));
}

TEST(Program, equality_sees_every_part) {
  const Program program = mlp();
  auto differs = [&](auto&& change) {
    Program other = program;
    change(other);
    return !equal(program, other);
  };
  EXPECT_TRUE(differs([](Program& p) { p.name = "other"; }));
  EXPECT_TRUE(differs([](Program& p) { p.config.slots = 3; }));
  EXPECT_TRUE(differs([](Program& p) { p.storages[0].mutated = true; }));
  EXPECT_TRUE(differs([](Program& p) { p.storages[0].device = 1; }));
  EXPECT_TRUE(differs([](Program& p) { p.counters[0].scope = CounterScope::system; }));
  EXPECT_TRUE(differs([](Program& p) { p.maps[0].box[0] = 8; }));
  EXPECT_TRUE(differs([](Program& p) { p.records[1].code[0].type ^= 1; }));
  EXPECT_TRUE(differs([](Program& p) { p.instructions.back().guards_high[0] = 1; }));
  EXPECT_TRUE(differs([](Program& p) { p.counters[0].reuse = true; }));
  EXPECT_TRUE(differs([](Program& p) { p.outputs[0].offset = 1; }));
}

TEST(Program, a_foreign_or_damaged_file_is_refused_with_its_reason) {
  const std::string good = to_bytes(mlp());
  auto reason = [](std::string bytes) { return format_error([&] { from_bytes(bytes); }); };
  EXPECT_THAT(reason(""), HasSubstr("0 bytes are no header"));
  EXPECT_THAT(reason(std::string(100, 'x')), HasSubstr("does not begin like one"));
  EXPECT_THAT(reason(good.substr(0, good.size() - 1)), HasSubstr("its header says"));
  std::string damaged = good;
  damaged[good.size() / 2] ^= 1;
  EXPECT_THAT(reason(damaged), HasSubstr("damaged"));
  std::string newer = good;
  newer[8] = 99;
  EXPECT_THAT(reason(newer), HasSubstr("version 99; this build reads version 4"));
}

TEST(Program, a_text_that_cannot_be_read_is_refused_with_its_line) {
  auto reason = [](const std::string& text) { return format_error([&] { from_text(text); }); };
  EXPECT_THAT(reason(""), HasSubstr("empty"));
  EXPECT_THAT(reason("megakittens-program 2\n"), HasSubstr("line 1: version 2"));
  EXPECT_THAT(reason("megakittens-program 4\nnonsense\n"), HasSubstr("line 2: unknown keyword 'nonsense'"));
  EXPECT_THAT(reason("megakittens-program 4\n\nwait 0 needs 1 of 1 guard 1\n"),
              HasSubstr("line 3: no instruction precedes it"));
  EXPECT_THAT(reason("megakittens-program 4\ncounter arrivals 1 reuse 0 scope city\n"),
              HasSubstr("line 2: unknown counter scope 'city'; known are gpu, system"));
  EXPECT_THAT(reason("megakittens-program 4\nstorage \"x\" kind input bytes -1 mutated 0\n"),
              HasSubstr("line 2: '-1' is no such number"));
}

TEST(Program, every_index_is_checked_against_what_it_points_into) {
  const Program good = mlp();
  EXPECT_EQ(bounds_error(good), "");
  auto error = [&](auto&& change) {
    Program program = good;
    change(program);
    return bounds_error(program);
  };
  EXPECT_THAT(error([](Program& p) { p.config.cluster = 3; }), HasSubstr("cluster size 3"));
  EXPECT_THAT(error([](Program& p) { p.config.pages = 17; }), HasSubstr("17 pages; 1 to 16 are possible"));
  EXPECT_THAT(error([](Program& p) { p.storages.back().bytes += 1; }), HasSubstr("multiple of 128"));
  EXPECT_THAT(error([](Program& p) { p.counters[0].scope = CounterScope(2); }), HasSubstr("counter 0 is of unknown"));
  EXPECT_THAT(error([](Program& p) { p.maps[0].storage = 99; }), HasSubstr("tensor map 0: storage 99"));
  EXPECT_THAT(error([](Program& p) { p.maps[0].sizes[1] *= 64; }), HasSubstr("tensor map 0: reaches past"));
  EXPECT_THAT(error([](Program& p) {
                p.records[1].operands[2].map = 0;
                p.maps[0].sizes[0] -= 3;
              }),
              HasSubstr("would write past rows"));
  EXPECT_THAT(error([](Program& p) { p.records[0].operand_count = 17; }), HasSubstr("17 operands"));
  EXPECT_THAT(error([](Program& p) { p.records[0].operands[0].storage = 99; }), HasSubstr("operand 0: storage 99"));
  EXPECT_THAT(error([](Program& p) { p.records[0].operands[0].offset = -1; }), HasSubstr("reaches past"));
  EXPECT_THAT(error([](Program& p) {
                p.records[0].operands[0].strides[0] = INT64_MAX;
                p.records[0].operands[0].sizes[0] = 9;
              }),
              HasSubstr("reaches past"));
  EXPECT_THAT(error([](Program& p) { p.records[0].code[0].op = 200; }), HasSubstr("unknown code operation 200"));
  EXPECT_THAT(error([](Program& p) { p.instructions[1].number = 2; }), HasSubstr("instruction 1 calls itself 2"));
  EXPECT_THAT(error([](Program& p) { p.instructions[1].node = 99; }), HasSubstr("node record 99"));
  EXPECT_THAT(error([](Program& p) { p.instructions[1].index[15] = 1; }), HasSubstr("unused words are not zero"));
  EXPECT_THAT(error([](Program& p) { p.records[0].operands[9].type = 32; }), HasSubstr("entries after 3 are not zero"));
  EXPECT_THAT(error([](Program& p) { p.instructions[1].wait_count = 10; }), HasSubstr("10 waits; 9 are possible"));
  EXPECT_THAT(error([](Program& p) { p.instructions.back().waits[0].counter = 9999; }), HasSubstr("counter 9999"));
  EXPECT_THAT(error([](Program& p) { p.instructions.back().waits[0].needed = 0; }), HasSubstr("needs 0 of"));
  EXPECT_THAT(error([](Program& p) { p.instructions[0].arrivals[0] = 9999; }), HasSubstr("raises counter 9999"));
  EXPECT_THAT(error([](Program& p) { p.instructions[0].release_order[0] |= 0xf0; }), HasSubstr("releases page 15 of"));
  EXPECT_THAT(error([](Program& p) { p.outputs[0].storage = 99; }), HasSubstr("output 0: storage 99"));
}

TEST(Program, an_instruction_is_decoded_field_by_field) {
  const Program program = mlp();
  const NodeInfo& add = program.nodes[1];
  const std::string text = describe_instruction(program, add.first);
  EXPECT_THAT(text,
              HasSubstr(fmt::format("instruction {}: SM {}, its number {}", add.first, add.first % 4, add.first / 4)));
  EXPECT_THAT(text, HasSubstr("node 1 'add1' (add) at mlp.py:5"));
  EXPECT_THAT(text, HasSubstr("before operand 0\n"));
  EXPECT_THAT(text, HasSubstr("operand 1: storage 2 'b', bf16"));
  EXPECT_THAT(text, HasSubstr("output 2: "));
  EXPECT_THAT(text, HasSubstr("raises counters "));
  EXPECT_THAT(text, HasSubstr("code: load %0; add %1"));
  EXPECT_THROW(describe_instruction(program, program.instructions.size()), OptionError);
}

}  // namespace megakittens::program
