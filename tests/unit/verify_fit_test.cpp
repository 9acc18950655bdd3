// Programs whose instructions, records and types do not belong together, and what is said about them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <functional>

#include "ir/builder.hpp"
#include "ops/elementwise/arguments.hpp"
#include "ops/gemm/arguments.hpp"
#include "ops/icodes.hpp"
#include "runtime/host_run.hpp"
#include "runtime/program_file.hpp"
#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"

namespace megakittens::schedule {
namespace {

using ir::DType;
using ir::Handle;
using program::Instruction;
using program::NodeRecord;
using program::Program;
using testing::AllOf;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

/// By icode: a product of a narrow tile, a tiled pointwise node of two inputs and one that takes rows of six columns.
Program three_types() {
  ir::Builder builder("three");
  const Handle x = builder.input("x", DType::bf16, {64, 128}), w = builder.input("w", DType::bf16, {128, 128});
  builder.at("product", "");
  const Handle y = builder.matmul(x, w);
  builder.at("tiled", "");
  builder.output(builder.add(y, x));
  builder.at("general", "");
  builder.output(builder.relu({y.value, y.view.slice(1, 3, 9)}));
  return schedule(builder.build(), {.config = {.sms = 4, .cluster = 1}, .name = {}, .resolve = {}});
}

Instruction& first_of(Program& program, const std::string& node) {
  for (Instruction& instruction : program.instructions)
    if (instruction.icode != ops::kIcode_noop && program.nodes[program.records[instruction.node].number].name == node)
      return instruction;
  throw std::out_of_range(node);
}

NodeRecord& record_of(Program& program, const std::string& node) {
  return program.records[first_of(program, node).node];
}

TEST(VerifyFit, what_nothing_runs_yet_is_refused_by_name) {
  Program program = three_types();
  auto refused = [&](const std::string& words) {
    const std::vector<Finding> findings = verify(program);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].rule, Rule::fit);
    EXPECT_THAT(findings[0].text, HasSubstr(words));
    EXPECT_THAT([&] { runtime::parse_program(program::to_bytes(program), "a.mkp"); },
                ThrowsMessage<FormatError>(HasSubstr(words)));
    EXPECT_THAT([&] { runtime::HostProgram machine(program); },
                ThrowsMessage<UnsupportedError>(AllOf(HasSubstr("program 'three' cannot run"), HasSubstr(words))));
  };
  program.storages[1].device = 1;
  refused("storage 'x' lies on device 0 and storage 'w' on device 1; a program runs on one device");
  program = three_types();
  program.counters.at(0).scope = program::CounterScope::system;
  refused("counter 0 has scope 'system'; programs run with counters of scope 'gpu'");
}

/// The first finding after the change, which verify(), too, sees as one of fit, and which a reader of a file throws.
std::string changed(const std::function<void(Program&)>& change) {
  Program program = three_types();
  change(program);
  const std::vector<Finding> findings = verify(program);
  EXPECT_THAT(findings, AllOf(Not(IsEmpty()), Each(Field(&Finding::rule, Rule::fit))));
  if (findings.empty()) return "";
  EXPECT_THAT([&] { runtime::parse_program(program::to_bytes(program), "p.mkp"); },
              ThrowsMessage<FormatError>("p.mkp: " + findings.front().text));
  return findings.front().text;
}

TEST(VerifyFit, what_the_scheduler_makes_fits) {
  for (const auto architecture : {program::Architecture::sm_90a, program::Architecture::sm_100a})
    for (const auto tiling : {ops::Tiling::automatic, ops::Tiling::seed}) {
      const program::Config config{.architecture = architecture, .sms = 8};
      for (const ir::Graph& graph : {test::mlp(512, 256, 2), test::written_slice(DType::f32)})
        EXPECT_THAT(verify_fit(schedule(graph, {.config = config, .tiling = tiling, .name = {}, .resolve = {}})),
                    IsEmpty());
    }
  Program program = three_types();
  EXPECT_THAT(verify_fit(program), IsEmpty());
  EXPECT_EQ(first_of(program, "product").icode, ops::kIcode_gemm_narrow_bf16_nmajor);
  EXPECT_EQ(first_of(program, "tiled").icode, ops::kIcode_elementwise);
  EXPECT_EQ(first_of(program, "general").icode, ops::kIcode_elementwise);
}

TEST(VerifyFit, an_icode_is_of_a_type_that_takes_the_record) {
  auto made = [](const std::string& node, std::uint16_t icode) {
    return changed([&](Program& p) { first_of(p, node).icode = icode; });
  };
  EXPECT_THAT(made("general", ops::kIcode_gemm_bf16_kmajor), HasSubstr("2 operands with 1 outputs"));
  EXPECT_THAT(made("product", ops::kIcode_elementwise),
              AllOf(HasSubstr("of node 'product': node record 0 does not fit type 'elementwise'"),
                    HasSubstr("operand 0 has tensor map 0; it is moved without")));
  EXPECT_THAT(made("product", ops::kIcode_gemm_narrow_bf16_kmajor), HasSubstr("operand 1 has tensor map 1"));
  EXPECT_THAT(made("product", ops::kIcode_gemm_narrow_f16_nmajor), HasSubstr("operand 0 is bf16"));
  EXPECT_THAT(made("product", ops::kIcode_gemm_bf16_nmajor), HasSubstr("whose box has 64 elements in dimension 1"));
  EXPECT_THAT(made("product", ops::kIcode_gemm_general_bf16), HasSubstr("operand 0 has tensor map 0"));
}

TEST(VerifyFit, an_operand_has_the_map_of_its_own_tensor_or_none) {
  EXPECT_THAT(changed([](Program& p) { record_of(p, "general").operands[1].map = 1; }),
              HasSubstr("operand 1 has tensor map 1; it is moved without"));
  EXPECT_THAT(changed([](Program& p) { record_of(p, "product").operands[0].map = 1; }),
              HasSubstr("operand 0 has tensor map 1, which is of another tensor"));
  EXPECT_THAT(changed([](Program& p) { p.maps[0].sizes[1] = 63; }), HasSubstr("of 63 elements in dimension 1, not 64"));
}

TEST(VerifyFit, operands_and_code_fit_the_nodes_space) {
  EXPECT_THAT(changed([](Program& p) { record_of(p, "general").operands[0].sizes[3] = 5; }),
              HasSubstr("operand 0 has 5 elements in dimension 3, not 6"));
  EXPECT_THAT(changed([](Program& p) { record_of(p, "general").operands[0].flags ^= program::kOperandOutput; }),
              HasSubstr("operand 0 has flags"));
  EXPECT_THAT(changed([](Program& p) { record_of(p, "product").parameters[ops::gemm::kDepth] = 64; }),
              HasSubstr("operand 0 has 128 elements in dimension 3, not 64"));
  EXPECT_THAT(changed([](Program& p) {
                NodeRecord& record = record_of(p, "general");
                record.code[record.code_count - 1].third = 0;
              }),
              HasSubstr("writes operand 0, an input"));
  EXPECT_THAT(changed([](Program& p) { record_of(p, "general").code[1].source = 99; }), HasSubstr("reads constant 79"));
}

TEST(VerifyFit, a_wide_product_rounds_its_sums_first) {
  ir::Builder builder("wide");
  const Handle x = builder.input("x", DType::bf16, {128, 128}), w = builder.input("w", DType::bf16, {128, 256});
  builder.output(builder.matmul(x, w));
  ir::Graph graph = builder.build();
  graph.nodes[0].body = ir::PointwiseBody{.steps = {{ir::PointwiseOp::round, {ir::Ref::accumulator()}, DType::bf16},
                                                    {ir::PointwiseOp::silu, {ir::Ref::step(0)}, DType::f32}},
                                          .results = {1}};
  Program program = schedule(graph, {.config = {.sms = 4, .cluster = 1}, .name = {}, .resolve = {}, .tile = "gemm"});
  program::CodeWord& first = program.records[0].code[0];
  ASSERT_EQ(static_cast<program::CodeOp>(first.op), program::CodeOp::round);
  EXPECT_THAT(verify(program), IsEmpty());
  first.op = static_cast<std::uint8_t>(program::CodeOp::relu);
  EXPECT_THAT(verify(program), Each(Field(&Finding::text, HasSubstr("does not round first"))));
  EXPECT_THAT(verify(program), Not(IsEmpty()));
}

TEST(VerifyFit, index_words_are_a_tile_of_the_nodes_space) {
  auto made = [](const std::string& node, int word, std::int32_t value) {
    return changed([&](Program& p) { first_of(p, node).index[word] = value; });
  };
  using namespace ops;
  EXPECT_THAT(made("product", gemm::kRow, 1), HasSubstr("it does not fit type 'gemm': rows 1 to 65 of 64"));
  EXPECT_THAT(made("product", gemm::kOuter0, -1), HasSubstr("position -1 of 1 in dimension 0"));
  EXPECT_THAT(made("product", gemm::kColumns, 128), HasSubstr("a tile of 64 x 128; 64 x 64 is the most"));
  EXPECT_THAT(made("product", gemm::kTileDepth, 64), HasSubstr("a depth of 64, and the record says 128"));
  // "tiled" is 8192 elements of two dense inputs, "general" 384 in rows of six that lie further apart.
  EXPECT_THAT(made("general", elementwise::kBeginLow, 4), HasSubstr("elements 4 to 388 of 384"));
  EXPECT_THAT(made("general", elementwise::kElements, 0), HasSubstr("elements 0 to 0 of 384"));
  EXPECT_THAT(made("general", elementwise::kFirstColumn, 6), HasSubstr("position 6 of 6 in dimension 3"));
  EXPECT_THAT(made("general", elementwise::kFirstColumn, 2), HasSubstr("its position is that of 2"));
  EXPECT_THAT(made("general", elementwise::kOuter1, 1), HasSubstr("its windows begin at (0, 1)"));
  EXPECT_THAT(made("general", elementwise::kShape, 0), HasSubstr("its shape word is of 0 operands, not 2"));
  EXPECT_THAT(made("general", elementwise::kModesLow, 0x44), HasSubstr("operand 0 does not move in mode 4"));
  EXPECT_THAT(made("general", elementwise::kModesLow, 0x43), HasSubstr("operand 0 does not move in mode 3"));
  EXPECT_THAT(made("general", elementwise::kModesLow, 0x41), HasSubstr("operand 0 does not move in mode 1"));
  EXPECT_THAT(made("general", elementwise::kModesLow, 0x45), HasSubstr("operand 0 does not move in mode 5"));
  EXPECT_THAT(made("tiled", elementwise::kElements, 24), HasSubstr("24 elements from 0 on are not whole runs"));
  EXPECT_THAT(made("tiled", elementwise::kShape, 3), HasSubstr("a ring of 0 stages of 0 blocks, 0 a page"));
  EXPECT_THAT(made("tiled", elementwise::kShape, 3 | 9 << 8 | 1 << 16 | 1 << 24), HasSubstr("stages of 36864 bytes"));
  EXPECT_THAT(made("tiled", elementwise::kShape, 3 | 1 << 8 | 8 << 16 | 1 << 24), HasSubstr("a ring of 8 stages"));
  EXPECT_THAT(changed([](Program& p) { ++record_of(p, "general").parameters[elementwise::kColumnsMagic]; }),
              HasSubstr("its parameters do not divide by 6"));
  EXPECT_THAT(changed([](Program& p) { first_of(p, "product").index_count = 8; }),
              HasSubstr("it has 8 index words, not 7"));
}

}  // namespace
}  // namespace megakittens::schedule
