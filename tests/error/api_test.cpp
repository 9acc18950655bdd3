// What the C++ API says about a caller's mistake.
#include <gmock/gmock.h>

#include <megakittens/megakittens.hpp>

namespace megakittens {
namespace {

using testing::AllOf;
using testing::HasSubstr;

template <class Kind, class Call>
std::string message_of(Call&& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "nothing of this kind was thrown";
}

Graph small() {
  Builder builder("small");
  builder.output(relu(builder.input("x", DType::bf16, {4, 4})));
  return builder.build();
}

}  // namespace

TEST(Api, shapes_that_do_not_multiply_are_both_named) {
  Builder builder;
  const Expression a = builder.input("a", DType::bf16, {2, 3});
  EXPECT_THAT(message_of<UserError>([&] { matmul(a, a); }), AllOf(HasSubstr("[2, 3]"), HasSubstr("matmul")));
}

TEST(Api, a_wrong_number_of_arguments_is_told) {
  Builder builder;
  const Expression a = builder.input("a", DType::bf16, {2, 3});
  EXPECT_THAT(message_of<UserError>([&] { apply("add", {a}); }), HasSubstr("add takes 2 arguments, 1 were given"));
  EXPECT_THAT(message_of<UserError>([&] { apply("relu", a, 1.0); }), HasSubstr("relu takes 1 arguments"));
}

TEST(Api, an_unknown_operation_is_named) {
  Builder builder;
  const Expression a = builder.input("a", DType::bf16, {2, 3});
  EXPECT_THAT(message_of<UserError>([&] { apply("sine", {a}); }), HasSubstr("sine"));
}

TEST(Api, expressions_of_two_builders_do_not_mix) {
  Builder first;
  Builder second;
  const Expression a = first.input("a", DType::bf16, {2});
  const Expression b = second.input("b", DType::bf16, {2});
  EXPECT_THAT(message_of<UserError>([&] { a + b; }), HasSubstr("different builders"));
  EXPECT_THAT(message_of<UserError>([&] { second.output(a); }), HasSubstr("another builder"));
}

TEST(Api, inputs_that_do_not_fit_are_named_with_both_shapes) {
  const Program program = small().schedule();
  EXPECT_THAT(message_of<UserError>([&] { program.run({}); }), HasSubstr("program 'small' takes 1 inputs, 0"));
  EXPECT_THAT(message_of<UserError>([&] { program.run({HostTensor(DType::bf16, {4, 5})}); }),
              HasSubstr("input 'x' is bf16[4, 4], bf16[4, 5] was given"));
  EXPECT_THAT(message_of<UserError>([&] { program.run({HostTensor(DType::f32, {4, 4})}); }),
              HasSubstr("input 'x' is bf16[4, 4], f32[4, 4] was given"));
}

TEST(Api, a_number_of_values_that_is_not_the_shapes_is_told) {
  const std::vector<float> five(5);
  EXPECT_THAT(message_of<OptionError>([&] { HostTensor::from_floats(DType::f32, {2, 3}, five); }),
              HasSubstr("shape [2, 3] has 6 elements, 5 were given"));
  EXPECT_THAT(message_of<OptionError>([&] { HostTensor(DType::f32, {-1}); }), HasSubstr("not possible"));
}

TEST(Api, missing_and_foreign_files_are_named) {
  EXPECT_THAT(message_of<UserError>([] { Graph::load("/nowhere/g.mkg.json"); }), HasSubstr("/nowhere/g.mkg.json"));
  EXPECT_THAT(message_of<UserError>([] { Program::load("/nowhere/p.mkp"); }), HasSubstr("/nowhere/p.mkp"));
  EXPECT_THAT(message_of<FormatError>([] { Program::load(MK_SOURCE_DIR "/README.md"); }),
              AllOf(HasSubstr("README.md"), HasSubstr("program file")));
  EXPECT_THAT(message_of<FormatError>([] { Graph::from_json("{}"); }), HasSubstr("megakittens_graph"));
}

TEST(Api, an_impossible_configuration_is_named_with_its_numbers) {
  ScheduleOptions options;
  options.sms = 5;
  EXPECT_THAT(message_of<OptionError>([&] { small().schedule(options); }), AllOf(HasSubstr("5"), HasSubstr("2")));
}

TEST(Api, a_target_that_this_build_lacks_is_named_with_those_that_it_has) {
  ScheduleOptions options;
  options.target = "sm_80";
  EXPECT_THAT(message_of<OptionError>([&] { small().schedule(options); }),
              HasSubstr("unknown target 'sm_80'; known are sm_90a, sm_100a"));
}

}  // namespace megakittens
