// Users' types beyond the simplest: tensors of more than four dimensions, tensor maps, and long instructions.
#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "ir/reference.hpp"
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

using testing::HasSubstr;

/// y = 2 x of any rank: an instruction has the last two dimensions of one place in the others.
class DoubledPlaces : public Doubled {
 public:
  TypePlan plan(const Call& call) const override {
    const Extents& sizes = call.operands[0].sizes;
    TypePlan plan;
    plan.clocks = std::uint64_t{3} << 32;
    std::vector<std::int32_t> place(sizes.size() - 2, 0);
    for (bool more = true; more;) {
      std::vector<std::int32_t> words{place[0], place[1], static_cast<std::int32_t>(sizes[sizes.size() - 2]),
                                      static_cast<std::int32_t>(sizes[sizes.size() - 1])};
      words.insert(words.end(), place.begin() + 2, place.end());
      plan.tiles.push_back(words);
      more = false;
      for (std::size_t d = place.size(); d-- > 0 && !more;) {
        more = ++place[d] < sizes[d];
        if (!more) place[d] = 0;
      }
    }
    return plan;
  }
  std::vector<Touch> touches(const std::vector<OperandInfo>& operands,
                             const std::vector<std::int32_t>& index) const override {
    const std::size_t rank = operands[0].sizes.size();
    Extents lo = Extents::of_rank(rank), hi = lo;
    for (std::size_t d = 0; d + 2 < rank; ++d) hi[d] = (lo[d] = index[d < 2 ? d : d + 2]) + 1;
    hi[rank - 2] = index[2];
    hi[rank - 1] = index[3];
    return {{.operand = 0, .lo = lo, .hi = hi}, {.operand = 1, .lo = lo, .hi = hi}};
  }
};

constexpr const char* kPlaces = R"(#pragma once
#include "ops/user/direct.cuh"

namespace megakittens::user {

struct Doubled : ops::Direct {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using device::Lanes;
    begin(c);
    device::OperandWindow x = c.window(0), y = c.window(1);
    x.base += ops::middle_offset(c, 0, 4);
    y.base += ops::middle_offset(c, 1, 4);
    const ops::GlobalOperand from(x), to(y);
    const int32_t rows = c.index(2), columns = c.index(3);
    MK_ROLLED for (int32_t row = static_cast<int32_t>(c.warp); row < rows; row += 8) {
      const Lanes<int32_t> column = device::convert<int32_t>(device::lane_index());
      const Lanes<bool> mask = column < columns;
      const Lanes<float> value = ops::load_value(from.type, from.base, from.offset(Lanes<int32_t>(row), column), mask);
      ops::store_value(to.type, to.base, to.offset(Lanes<int32_t>(row), column), value * 2.0f, mask);
    }
    end(c);
  }
};

}  // namespace megakittens::user
)";

/// y = 2 x of f32 rows of 32 columns, which come by bulk tensor copies of eight rows.
class DoubledByMaps : public Doubled {
 public:
  std::uint32_t box_rows = 8;

  std::optional<std::string> unsuited(const Call& call) const override {
    if (!call.operands[0].bulk) return "x is not aligned";
    return std::nullopt;
  }
  std::vector<BulkMap> maps(const std::vector<OperandInfo>&) const override {
    return {{.operand = 0, .rows = box_rows, .columns = 32, .swizzle = Swizzle::b128}};
  }
  TypePlan plan(const Call& call) const override {
    TypePlan plan;
    for (std::int64_t row = 0; row < call.operands[0].sizes[2]; row += 8)
      plan.tiles.push_back({0, 0, static_cast<std::int32_t>(row),
                            static_cast<std::int32_t>(std::min<std::int64_t>(8, call.operands[0].sizes[2] - row)), 32});
    return plan;
  }
};

constexpr const char* kByMaps = R"(#pragma once
#include "ops/user/direct.cuh"

namespace megakittens::user {

struct Doubled : ops::Quiet {
  template <class B>
  MK_DEVICE uint32_t ring_stages(const device::Context<B>&) const {
    return 1;
  }
  template <class B>
  MK_DEVICE void bring(device::Context<B>& c, bool dependent) const {
    wait_stage_free(c, 0, device::kRingStages);
    wait_page(c, 0);
    if (dependent && wait_counters(c, 0xff & ~program::kGuardWrite)) FENCE;
    const bool mine = ops::brings(c, 0, dependent);
    fill_stage(c, 0, mine ? 8 * 32 * 4 : 0);
    if (c.aborted || !mine) return;
    const int32_t at[4] = {0, c.index(2), c.index(1), c.index(0)};
    ptx::cp_async_bulk_tensor_g2s<4>(c.page_address(0), c.map(c.window(0).map), at, stage_full(c, 0));
  }
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using device::Lanes;
    ops::pass_pages_warp(c, 1);
    wait_writable_warp(c);
    wait_stage_full_warp(c, 0);
    if (static_cast<int32_t>(c.warp) < c.index(3)) {
      const Lanes<uint32_t> lane = device::lane_index();
      const Lanes<uint32_t> at = ((lane / 4u) ^ c.warp) * 16u + lane % 4u * 4u + (c.page_address(0) + c.warp * 128u);
      const Lanes<float> value = device::bit_cast<float>(ptx::ld_shared_u32(at));
      const ops::GlobalOperand to(c.window(1));
      const Lanes<int32_t> row = c.index(2) + static_cast<int32_t>(c.warp);
      ops::store_value(to.type, to.base, to.offset(row, device::convert<int32_t>(lane)), value * 2.0f,
                       lane < static_cast<uint32_t>(c.index(4)));
    }
    device::speak_for_warp([&](uint32_t arrivals) {
      free_stage(c, 0, arrivals);
      finish_page(c, 0, arrivals);
    });
  }
};

}  // namespace megakittens::user
)";

std::string by_maps(const std::string& fence) {
  std::string text = kByMaps;
  return text.replace(text.find("FENCE"), 5, fence);
}

class UserTypeForms : public testing::Test {
 protected:
  template <class Type>
  std::shared_ptr<Type> add(const std::string& half, std::vector<Shape> shapes) {
    types_.write_device_half(half);
    auto type = std::make_shared<Type>();
    type->path = types_.folder / "doubled.cuh";
    for (const Shape& shape : shapes)
      type->calls.push_back(
          {.inputs = {{"x", DType::f32, shape}}, .outputs = {{"y", DType::f32, shape}}, .arguments = {}});
    ops::register_user_type(type);
    return type;
  }
  static program::Program prepared(const Shape& shape) {
    ir::Builder builder("forms");
    builder.output(builder.call("megakittens_test.doubled.default", {builder.input("x", ir::DType::f32, shape)},
                                ir::Tensor::dense(ir::DType::f32, shape)));
    return runtime::prepare(builder.build(), {.sms = 4, .cluster = 1});
  }

  UserTypes types_;
};

TEST_F(UserTypeForms, tensors_of_up_to_eight_dimensions_are_seen_as_they_are) {
  add<DoubledPlaces>(kPlaces, {{3, 5}, {2, 1, 3, 2, 5}, {2, 2, 1, 3, 2, 4}, {1, 2, 2, 1, 2, 1, 3, 4}});
  EXPECT_EQ(runtime::test_type("doubled", {.schedules = 2, .target = "sm_90a"}).programs, 16);
}

TEST_F(UserTypeForms, a_view_that_no_reshape_merges_is_read_where_it_lies) {
  add<DoubledPlaces>(kPlaces, {});
  ir::Builder builder("permuted");
  ir::Handle x = builder.input("x", ir::DType::f32, {3, 4, 2, 3, 2, 2});
  x.view = x.view.transpose(0, 3).transpose(2, 4);
  const ir::Handle y =
      builder.call("megakittens_test.doubled.default", {x}, ir::Tensor::dense(ir::DType::f32, x.view.sizes));
  builder.output(builder.relu(y));
  const ir::Graph graph = builder.build();
  const program::Program program = runtime::prepare(graph, {.sms = 4, .cluster = 1});
  EXPECT_TRUE(schedule::verify(program).empty());
  runtime::HostProgram machine(program);
  std::vector<float> values(3 * 4 * 2 * 3 * 2 * 2);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 100;
  const runtime::HostRun run = machine.run(runtime::to_buffers(program, {values}), {.seed = 3, .check = true});
  EXPECT_TRUE(run.report.ok()) << run.report.text();
  const program::Port& port = program.outputs[0];
  EXPECT_EQ(runtime::to_floats(port.type, runtime::read_port(port, run.storages[port.storage])),
            ir::evaluate(graph, {values}).outputs[0]);
}

TEST_F(UserTypeForms, more_dimensions_than_a_record_holds_are_refused_with_what_fits) {
  add<DoubledPlaces>(kPlaces, {});
  ir::Builder builder("wide");
  std::vector<ir::Handle> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(builder.input("x", ir::DType::f32, {1, 1, 1, 1, 1, 1, 2, 2}));
  builder.output(builder.call("megakittens_test.doubled.default", inputs, ir::Tensor::dense(ir::DType::f32, {2, 2})));
  EXPECT_THAT(
      text_of_error<UserError>([&] { runtime::prepare(builder.build(), {.sms = 4, .cluster = 1}); }),
      HasSubstr("operand 2 has 8 dimensions, and one call may have eight tensors of five dimensions, four of six"));
}

TEST_F(UserTypeForms, words_for_dimensions_that_do_not_belong_to_the_record_are_refused) {
  add<DoubledPlaces>(kPlaces, {});
  const program::Program good = prepared({2, 2, 3, 2, 2, 4});
  auto refused = [&](auto&& change) {
    program::Program bad = good;
    change(bad.records[0]);
    return text_of_error<FormatError>([&] { runtime::parse_program(program::to_bytes(bad), "a file"); });
  };
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.parameters[2] = 5; }),
              HasSubstr("operand 0 has 5 dimensions beyond"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.reserved[0] = 300; }),
              HasSubstr("operand 0 reaches past the end"));
  EXPECT_THAT(refused([](program::NodeRecord& r) { r.reserved[15] = 1; }), HasSubstr("reserved word 15 is not zero"));
}

TEST_F(UserTypeForms, an_operand_comes_by_bulk_tensor_copies) {
  add<DoubledByMaps>(by_maps("ptx::fence_proxy_async_global()"), {{21, 32}, {8, 32}});
  EXPECT_EQ(runtime::test_type("doubled").programs, 12);  // rows of a wider tensor are refused
}

TEST_F(UserTypeForms, a_copy_of_what_others_wrote_without_the_proxy_fence_is_found) {
  add<DoubledByMaps>(by_maps("{}"), {{21, 32}});
  EXPECT_THAT(text_of_error<Error>([] { runtime::test_type("doubled", {.target = "sm_90a"}); }), HasSubstr("proxy"));
}

TEST_F(UserTypeForms, maps_are_checked_when_they_are_asked_for_and_in_files) {
  const auto type = add<DoubledByMaps>(by_maps("ptx::fence_proxy_async_global()"), {});
  program::Program program = prepared({16, 32});
  program.maps[program.records[0].operands[0].map].box[1] = 16;
  EXPECT_THAT(text_of_error<FormatError>([&] { runtime::parse_program(program::to_bytes(program), "a file"); }),
              HasSubstr("whose box has 16 elements in dimension 1, not 8"));
  type->box_rows = 300;
  EXPECT_THAT(text_of_error<UserError>([] { prepared({16, 32}); }), HasSubstr("has a box of 300 x 32 elements"));
}

TEST_F(UserTypeForms, a_long_instruction_says_how_long_it_may_take) {
  add<DoubledPlaces>(kPlaces, {});
  // One instruction: an SM's share is a quarter of it, and two of the longest more.
  EXPECT_EQ(ops::most_clocks(prepared({4, 4})), (std::uint64_t{3} << 32) * 9 / 4);
}

}  // namespace
}  // namespace megakittens::test
