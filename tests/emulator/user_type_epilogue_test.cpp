// Users' types that take epilogues: what is fused behind a call gives what it gave unfused.
#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "ops/user/registry.hpp"
#include "runtime/host_run.hpp"
#include "runtime/prepare.hpp"
#include "runtime/program_file.hpp"
#include "runtime/type_test.hpp"
#include "runtime/values.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/user_type.hpp"

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;
using ir::PointwiseOp;
using testing::HasSubstr;

/// y = 2 x, the two being a constant of the type's. An instruction has rows of one place in the dimensions before; the
/// position in those beyond four is in the index words from 5 on.
class DoubledResult : public Doubled {
 public:
  bool takes = true;
  std::vector<float> constants{2};

  bool takes_epilogue() const override { return takes; }
  TypePlan plan(const Call& call) const override {
    const Extents& sizes = call.operands[0].sizes;
    TypePlan plan;
    plan.constants = constants;
    const std::int64_t rows = sizes[sizes.size() - 2], middle = sizes.size() > 4 ? sizes[2] : 1;
    for (std::int64_t m = 0; m < middle; ++m)
      for (std::int64_t row = 0; row < rows; row += 8)
        plan.tiles.push_back({0, 0, static_cast<std::int32_t>(row),
                              static_cast<std::int32_t>(std::min<std::int64_t>(8, rows - row)),
                              static_cast<std::int32_t>(sizes[sizes.size() - 1]), static_cast<std::int32_t>(m)});
    return plan;
  }
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override {
    EXPECT_EQ(operands.size(), 2u);
    const std::size_t rank = operands[0].sizes.size();
    Extents lo = Extents::of_rank(rank), hi = lo;
    for (std::size_t d = 0; d + 2 < rank; ++d) hi[d] = (lo[d] = d == 2 ? index[5] : 0) + 1;
    hi[rank - 2] = (lo[rank - 2] = index[2]) + index[3];
    hi[rank - 1] = index[4];
    return {{.operand = 0, .lo = lo, .hi = hi}, {.operand = 1, .lo = lo, .hi = hi}};
  }
};

std::string half(const std::string& middle) {
  return R"(#pragma once
#include "ops/user/direct.cuh"

namespace megakittens::user {

struct Doubled : ops::Direct {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    begin(c);
    constexpr uint32_t kMiddle = )" +
         middle + R"(;
    device::OperandWindow x = c.window(0);
    if (kMiddle != 0) x.base += ops::middle_offset(c, 0, kMiddle);
    const int32_t row = c.index(2) + static_cast<int32_t>(c.warp);
    if (row < c.index(2) + c.index(3))
      MK_ROLLED for (int32_t first = 0; first < c.index(4); first += ops::RowPlace::kWidth) {
        const ops::RowPlace place{row, first, c.index(4)};
        device::Lanes<float> values[ops::kChunk];
        MK_UNROLL for (uint32_t i = 0; i < ops::kChunk; ++i) values[i] = 0.0f;
        ops::GlobalOperand(x).load(place, values);
        MK_UNROLL for (uint32_t i = 0; i < ops::kChunk; ++i) values[i] = values[i] * c.code_constant(0);
        ops::store_result(c, place, values, kMiddle);
      }
    end(c);
  }
};

}  // namespace megakittens::user
)";
}

/// What a program gives: its outputs, and its inputs as they are afterwards.
using Bytes = std::vector<std::vector<std::byte>>;

class UserTypeEpilogue : public testing::Test {
 protected:
  std::shared_ptr<DoubledResult> add(const std::string& middle = "0") {
    types_.write_device_half(half(middle));
    auto type = std::make_shared<DoubledResult>();
    type->path = types_.folder / "doubled.cuh";
    type->calls = {{.inputs = {{"x", megakittens::DType::bf16, {11, 600}}},
                    .outputs = {{"y", megakittens::DType::bf16, {11, 600}}},
                    .arguments = {}}};
    ops::register_user_type(type);
    return type;
  }
  static Handle doubled(Builder& b, const Handle& x) {
    return b.call("megakittens_test.doubled.default", {x}, ir::Tensor::dense(b.dtype_of(x), x.view.sizes));
  }
  static program::Program prepared(const ir::Graph& graph, bool fused = true) {
    runtime::PrepareOptions options{.sms = 4, .cluster = 1};
    options.passes.fusion = fused;
    return runtime::prepare(graph, options);
  }
  static Bytes run(const ir::Graph& graph, const program::Program& program) {
    EXPECT_TRUE(schedule::verify(program).empty());
    const program::Program read = runtime::parse_program(program::to_bytes(program), "a file");
    runtime::HostProgram machine(read);
    const runtime::HostRun run =
        machine.run(runtime::to_buffers(program, runtime::random_inputs(graph, 5)), {.seed = 3, .check = true});
    EXPECT_TRUE(run.report.ok()) << run.report.text();
    Bytes bytes;
    for (const program::Port& port : program.outputs)
      bytes.push_back(runtime::read_port(port, run.storages[port.storage]));
    for (const program::Port& port : program.inputs)
      bytes.push_back(runtime::read_port(port, run.storages[port.storage]));
    return bytes;
  }
  /// The graph becomes `nodes` nodes and gives what it gives with every operation by itself.
  static void expect_fused(const ir::Graph& graph, std::size_t nodes) {
    const program::Program fused = prepared(graph), alone = prepared(graph, false);
    EXPECT_EQ(fused.nodes.size(), nodes);
    EXPECT_EQ(alone.nodes.size(), graph.nodes.size());
    EXPECT_EQ(run(graph, fused), run(graph, alone));
  }

  UserTypes types_;
};

TEST_F(UserTypeEpilogue, operations_behind_a_call_become_a_part_of_it) {
  add();
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    Builder b;
    const Handle x = b.input("x", dtype, {21, 520}), row = b.input("row", DType::f32, {520}),
                 other = b.input("other", dtype, {21, 520});
    const Handle y = b.add(b.pointwise(PointwiseOp::mul, doubled(b, b.neg(x)), 1.7), other);
    b.output(b.relu(b.cast(b.mul(b.silu(y), row), DType::bf16)));
    expect_fused(b.build(), 2);
  }
}

TEST_F(UserTypeEpilogue, results_of_more_than_four_dimensions_are_fused_where_they_lie) {
  add("5");
  Builder b;
  Handle x = b.input("x", DType::f32, {1, 1, 3, 9, 40}), other = b.input("other", DType::f32, {1, 1, 9, 3, 40});
  other.view = other.view.transpose(2, 3);
  b.output(b.exp(b.add(doubled(b, x), other)));
  b.output(b.mul(doubled(b, x), b.input("column", DType::f32, {3, 9, 1})));
  expect_fused(b.build(), 2);
}

TEST_F(UserTypeEpilogue, results_are_written_in_place_but_not_over_what_the_call_reads) {
  add();
  Builder b;
  const Handle x = b.input("x", DType::f32, {16, 32}), y = b.input("y", DType::f32, {40, 32});
  b.output(b.assign({y.value, y.view.slice(0, 5, 37, 2)}, b.relu(doubled(b, x))));
  expect_fused(b.build(), 1);
  Builder own;
  const Handle z = own.input("z", DType::f32, {16, 32});
  own.output(own.assign(z, own.relu(doubled(own, z))));
  expect_fused(own.build(), 2);
}

TEST_F(UserTypeEpilogue, a_call_that_is_read_twice_or_returned_keeps_its_result) {
  add();
  Builder b;
  const Handle x = b.input("x", DType::f32, {8, 40}), y = doubled(b, x), z = doubled(b, x);
  b.output(b.relu(y));
  b.output(b.neg(y));
  b.output(b.exp(z));
  b.output(z);
  expect_fused(b.build(), 5);
}

TEST_F(UserTypeEpilogue, a_type_that_declares_none_is_left_alone) {
  add()->takes = false;
  ops::unregister_user_type("doubled");
  auto type = types_.doubled();
  types_.write_device_half(doubled_device_half());
  ops::register_user_type(type);
  Builder b;
  b.output(b.relu(doubled(b, b.input("x", DType::f32, {6, 40}))));
  expect_fused(b.build(), 2);
  ir::Graph graph = doubled_graph();
  graph.nodes[0].body = {.steps = {{PointwiseOp::relu, {ir::Ref::accumulator()}}}, .results = {0}};
  std::get<ir::Call>(graph.nodes[0].details).own_operands = 1;
  EXPECT_THAT(text_of_error<UnsupportedError>([&] { prepared(graph); }), HasSubstr("doubled: it takes no epilogue"));
}

TEST_F(UserTypeEpilogue, what_the_code_cannot_store_is_not_fused_and_more_results_are_refused) {
  add();
  Builder b;
  const Handle x = b.input("x", DType::f32, {6, 40});
  const ir::Tensor tensor = ir::Tensor::dense(DType::f32, {6, 40});
  for (const Handle& y : b.call("megakittens_test.doubled.default", {x}, {tensor, tensor}, {})) b.output(y);
  EXPECT_THAT(text_of_error<UnsupportedError>([&] { prepared(b.build()); }), HasSubstr("this one has 2"));
  Builder many;  // more constants than there is room for
  Handle y = doubled(many, many.input("x", DType::f32, {6, 40}));
  for (int i = 0; i < 20; ++i) y = many.pointwise(PointwiseOp::add, y, 1.25 * i + 1);
  many.output(y);
  expect_fused(many.build(), 2);
}

TEST_F(UserTypeEpilogue, a_type_keeps_eight_constants) {
  add()->constants = std::vector<float>(9, 2);
  Builder b;
  b.output(doubled(b, b.input("x", DType::f32, {6, 40})));
  EXPECT_THAT(text_of_error<UserError>([&] { prepared(b.build()); }), HasSubstr("has 9 constants; 8 are possible"));
}

TEST_F(UserTypeEpilogue, the_generated_test_fuses_too) {
  add();
  EXPECT_EQ(runtime::test_type("doubled").programs, 10);
}

TEST_F(UserTypeEpilogue, a_program_is_made_for_a_type_that_takes_epilogues_or_for_one_that_does_not) {
  add();
  Builder b;
  b.output(doubled(b, b.input("x", DType::f32, {6, 40})));
  const program::Program program = prepared(b.build());
  ops::unregister_user_type("doubled");
  auto type = types_.doubled();
  ops::register_user_type(type);
  EXPECT_THAT(text_of_error<UserError>([&] { runtime::parse_program(program::to_bytes(program), "a file"); }),
              HasSubstr("was made with another version of instruction type 'doubled'"));
}

TEST_F(UserTypeEpilogue, code_that_does_not_belong_to_the_record_is_refused) {
  add();
  Builder b;
  const Handle x = b.input("x", DType::f32, {6, 40}), other = b.input("other", DType::f32, {6, 40});
  b.output(b.mul(b.exp(b.pointwise(PointwiseOp::mul, doubled(b, x), 3)), other));
  const program::Program good = prepared(b.build());
  ASSERT_EQ(good.records.size(), 1u);
  auto refused = [&](auto&& change) {
    program::Program bad = good;
    change(bad.records[0]);
    return text_of_error<FormatError>([&] { runtime::parse_program(program::to_bytes(bad), "a file"); });
  };
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.code[--r.code_count] = {}; }),
              HasSubstr("never writes operand 2"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.code[0].source = 0; }),
              HasSubstr("operand 0, which it cannot read"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.parameters[4] = 3; }), HasSubstr("3 of 2 inputs for itself"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.parameters[4] = -1; }), HasSubstr("-1 of 2 inputs"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.operands[1].sizes[2] = 5; }), HasSubstr("another shape than"));
  EXPECT_THAT(refused([](program::NodeRecord& r) {
                for (int i = 0; i < r.code_count; ++i)
                  if (r.code[i].source == program::kSourceConstant + 1)
                    r.code[i].source = program::kSourceTemporary + program::kGemmTemporaries;
              }),
              HasSubstr("temporary 1 of 1"));
}

}  // namespace
}  // namespace megakittens::test
