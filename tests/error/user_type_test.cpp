// What users may get wrong with instruction types of their own, and what they are told.
#include <gmock/gmock.h>

#include "ir/builder.hpp"
#include "jit/interpreter.hpp"
#include "ops/icodes.hpp"
#include "ops/user/registry.hpp"
#include "runtime/host_run.hpp"
#include "runtime/prepare.hpp"
#include "runtime/program_file.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/user_type.hpp"

namespace megakittens::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class UserTypeErrors : public testing::Test {
 protected:
  std::string registering(std::shared_ptr<Doubled> type) {
    return text_of_error<UserError>([&] { ops::register_user_type(std::move(type)); });
  }
  /// Of scheduling y = doubled(x) with that type.
  std::string scheduling(std::shared_ptr<Doubled> type) {
    ops::register_user_type(std::move(type));
    return text_of_error<UserError>([&] { runtime::prepare(doubled_graph(), small_); });
  }

  UserTypes types_;
  runtime::PrepareOptions small_{.sms = 4, .cluster = 1};
};

TEST_F(UserTypeErrors, a_name_is_a_name) {
  for (const char* name : {"", "Doubled", "2x", "a-b", "a b", "a::b"}) {
    auto type = types_.doubled();
    type->type_name = name;
    EXPECT_THAT(registering(type), HasSubstr(fmt::format("'{}' is no name for an instruction type", name)));
  }
  auto type = types_.doubled();
  type->type_name = "gemm";
  EXPECT_THAT(registering(type), HasSubstr("'gemm' is one of the standard set"));
}

TEST_F(UserTypeErrors, an_operation_is_named_as_pytorch_does) {
  for (const char* name : {"", "doubled", "a::b::c.d.e"}) {
    auto type = types_.doubled();
    type->operation_name = name;
    EXPECT_THAT(registering(type), HasSubstr(fmt::format("'doubled': '{}' names no operation", name)));
  }
}

TEST_F(UserTypeErrors, names_and_operations_are_taken_once) {
  ops::register_user_type(types_.doubled());
  EXPECT_THAT(registering(types_.doubled()), HasSubstr("an instruction type 'doubled' is registered already"));
  auto other = types_.doubled();
  other->type_name = "other";
  EXPECT_THAT(registering(other), HasSubstr("'doubled' takes operation 'megakittens_test.doubled.default' already; "
                                            "'other' cannot take it too"));
}

TEST_F(UserTypeErrors, a_device_half_that_is_missing_is_named) {
  auto type = types_.doubled();
  type->path = types_.folder / "nowhere.cuh";
  EXPECT_THAT(registering(type), AllOf(HasSubstr("the device half of instruction type 'doubled'"),
                                       HasSubstr("nowhere.cuh': No such file")));
}

TEST_F(UserTypeErrors, a_call_that_the_type_refuses_says_why_and_where) {
  auto type = types_.doubled();
  type->refuse = [](const Call& call) { return fmt::format("it is {} columns wide", call.operands[0].sizes[3]); };
  EXPECT_THAT(scheduling(type), AllOf(HasSubstr("model.py:7 in f"), HasSubstr("doubled: it is 40 columns wide")));
}

TEST_F(UserTypeErrors, a_host_half_that_throws_is_named_with_its_method) {
  auto type = types_.doubled();
  type->change_plan = [](TypePlan) -> TypePlan { throw std::out_of_range("no such row"); };
  EXPECT_THAT(scheduling(type), HasSubstr("plan() of instruction type 'doubled' failed: no such row"));
}

TEST_F(UserTypeErrors, what_a_host_half_throws_that_is_no_exception_is_an_error_unless_it_is_an_interruption) {
  struct Stop : Interruption {};
  auto type = types_.doubled();
  // NOLINTBEGIN(bugprone-std-exception-baseclass): that is the point
  type->change_plan = [](const TypePlan&) -> TypePlan { throw 3; };
  EXPECT_THAT(scheduling(type),
              HasSubstr("plan() of instruction type 'doubled' failed: it throws what is no std::exception"));
  // The registered one.
  type->change_plan = [](const TypePlan&) -> TypePlan { throw Stop(); };
  // NOLINTEND(bugprone-std-exception-baseclass)
  EXPECT_THROW(runtime::prepare(doubled_graph(), small_), Stop);
}

TEST_F(UserTypeErrors, boxes_outside_their_tensors_are_refused_with_the_instruction) {
  auto type = types_.doubled();
  type->change_touches = [](std::vector<Touch> touches) {
    touches[0].hi[2] += 1;
    return touches;
  };
  EXPECT_THAT(scheduling(type), AllOf(HasSubstr("instruction type 'doubled' on node 'twice'"),
                                      HasSubstr("instruction 2, reads [0:1, 0:1, 4:6, 0:40] of operand 0, outside its "
                                                "sizes [1, 1, 5, 40]")));
}

TEST_F(UserTypeErrors, a_plan_that_leaves_a_part_of_the_result_out_is_refused) {
  auto empty = types_.doubled();
  empty->change_plan = [](TypePlan plan) { return plan.tiles.clear(), plan; };
  const auto words = AllOf(HasSubstr("program 'doubled' is wrong by what plan() and touches() of instruction type "
                                     "'doubled' say:\n[never written] the output in storage"),
                           HasSubstr("is returned, but parts of it are never written"));
  EXPECT_THAT(scheduling(empty), words);
  ops::unregister_user_type("doubled");
  auto partial = types_.doubled();
  partial->change_plan = [](TypePlan plan) { return plan.tiles.pop_back(), plan; };
  EXPECT_THAT(scheduling(partial), words);
}

TEST_F(UserTypeErrors, touches_without_the_result_are_refused_whoever_reads_it) {
  auto type = types_.doubled();
  type->change_touches = [](std::vector<Touch> touches) { return touches.pop_back(), touches; };
  ops::register_user_type(type);
  ir::Builder builder("read_on");
  const ir::Handle x = builder.input("x", ir::DType::f32, {5, 40});
  builder.output(
      builder.relu(builder.call("megakittens_test.doubled.default", {x}, ir::Tensor::dense(ir::DType::f32, {5, 40}))));
  EXPECT_THAT(text_of_error<UserError>([&] { runtime::prepare(builder.build(), small_); }),
              AllOf(HasSubstr("of instruction type 'doubled' say:\n[never written] instruction"),
                    HasSubstr("but parts of it are not written before")));
}

TEST_F(UserTypeErrors, instructions_that_write_the_same_elements_are_refused) {
  auto type = types_.doubled();
  type->change_plan = [](TypePlan plan) { return plan.tiles.push_back(plan.tiles[0]), plan; };
  EXPECT_THAT(scheduling(type), AllOf(HasSubstr("instruction type 'doubled' say:\n[write after write]"),
                                      HasSubstr("instruction 3 (doubled of node 'twice') writes")));
}

TEST_F(UserTypeErrors, users_types_are_not_verified_where_the_option_says_no) {
  const ScopedVariable off("MEGAKITTENS_VERIFY", "off");
  auto type = types_.doubled();
  type->change_plan = [](TypePlan plan) { return plan.tiles.clear(), plan; };
  EXPECT_EQ(scheduling(type), "nothing was thrown");
}

TEST_F(UserTypeErrors, an_operand_that_is_not_there_is_refused) {
  auto type = types_.doubled();
  type->change_touches = [](std::vector<Touch> touches) {
    touches[1].operand = 2;
    return touches;
  };
  EXPECT_THAT(scheduling(type), HasSubstr("instruction 0, touches operand 2; there are 2"));
}

TEST_F(UserTypeErrors, index_words_and_constants_have_limits) {
  auto change = [&](std::function<void(TypePlan&)> f) {
    auto type = types_.doubled();
    type->change_plan = [f](TypePlan plan) { return f(plan), plan; };
    const std::string text = scheduling(type);
    ops::unregister_user_type("doubled");
    return text;
  };
  EXPECT_THAT(change([](TypePlan& plan) { plan.tiles[1].resize(17); }),
              HasSubstr("instruction 1, has 17 index words; 2 to 16 are possible"));
  EXPECT_THAT(change([](TypePlan& plan) { plan.tiles[0] = {1}; }), HasSubstr("instruction 0, has 1 index words"));
  EXPECT_THAT(change([](TypePlan& plan) { plan.tiles[0][1] = -1; }), HasSubstr("has index word 1 at -1"));
  EXPECT_THAT(change([](TypePlan& plan) { plan.constants.resize(25); }),
              HasSubstr("has 25 constants; 24 are possible"));
}

TEST_F(UserTypeErrors, a_program_names_its_types_and_is_refused_without_them) {
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  ASSERT_EQ(program.types.size(), 1u);
  EXPECT_EQ(program.types[0].name, "doubled");
  EXPECT_EQ(program.nodes[0].op, "doubled");
  for (const std::string& bytes : {program::to_bytes(program), program::to_text(program)}) {
    EXPECT_TRUE(program::equal(runtime::parse_program(bytes, "a.mkp"), program));
    ops::unregister_user_type("doubled");
    EXPECT_THAT(text_of_error<UserError>([&] { runtime::parse_program(bytes, "a.mkp"); }),
                AllOf(HasSubstr("program 'doubled' uses instruction type 'doubled', which is not registered"),
                      HasSubstr("--plugin")));
    ops::register_user_type(types_.doubled());
  }
}

TEST_F(UserTypeErrors, a_program_from_a_process_with_other_numbers_is_given_ours) {
  ops::register_user_type(types_.doubled());
  program::Program program = runtime::prepare(doubled_graph(), small_);
  const std::string here = program::to_text(program);
  const std::uint16_t own = program.types[0].icode;
  for (std::uint16_t* icode : {&program.types[0].icode, &program.nodes[0].icode}) *icode = 900;
  for (program::Instruction& instruction : program.instructions)
    if (instruction.icode == own) instruction.icode = 900;
  EXPECT_EQ(program::to_text(runtime::parse_program(program::to_bytes(program), "a.mkp")), here);
  program.types.clear();
  EXPECT_THAT(text_of_error<FormatError>([&] { runtime::parse_program(program::to_bytes(program), "a.mkp"); }),
              HasSubstr("icode 900 is unknown"));
}

TEST_F(UserTypeErrors, positions_outside_the_tensors_in_a_file_are_refused) {
  ops::register_user_type(types_.doubled());
  program::Program program = runtime::prepare(doubled_graph(), small_);
  for (program::Instruction& instruction : program.instructions)
    if (instruction.icode != 0) instruction.index[0] = -7;
  const program::Program read = runtime::parse_program(program::to_bytes(program), "a.mkp");
  EXPECT_THAT(text_of_error<UserError>([&] { schedule::verify(read); }), HasSubstr("has index word 0 at -7"));
}

TEST_F(UserTypeErrors, a_program_of_another_device_half_is_refused) {
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  ops::unregister_user_type("doubled");
  types_.write_device_half(doubled_device_half("x + x"));
  ops::register_user_type(types_.doubled());
  const std::string text =
      text_of_error<UserError>([&] { runtime::parse_program(program::to_bytes(program), "a.mkp"); });
  EXPECT_THAT(text, HasSubstr("was made with another version of instruction type 'doubled'"));
  EXPECT_EQ(text_of_error<UserError>([&] { runtime::HostProgram machine(program); }), text);
}

TEST_F(UserTypeErrors, a_device_half_that_was_edited_meanwhile_is_noticed) {
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  types_.write_device_half(doubled_device_half("x + x"));
  EXPECT_THAT(text_of_error<UserError>([&] { runtime::HostProgram machine(program); }),
              AllOf(HasSubstr("doubled.cuh"), HasSubstr("has been edited since it was registered")));
}

TEST_F(UserTypeErrors, a_type_that_was_unregistered_is_there_for_loaded_programs_alone) {
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  runtime::HostProgram machine(program);
  ops::unregister_user_type("doubled");
  EXPECT_THAT(text_of_error<UserError>([&] { ops::unregister_user_type("doubled"); }),
              HasSubstr("no instruction type 'doubled' is registered"));
  EXPECT_TRUE(machine.run(runtime::to_buffers(program, {std::vector<float>(200, 1)})).report.ok());
  EXPECT_THAT(text_of_error<UserError>([&] { runtime::HostProgram again(program); }), HasSubstr("is not registered"));
  EXPECT_THAT(text_of_error<UnsupportedError>([&] { runtime::prepare(doubled_graph(), small_); }),
              HasSubstr("megakittens_test.doubled.default is not supported"));
  // Its number stays its own.
  EXPECT_EQ(ops::register_user_type(types_.doubled()).device_half().icode, program.types[0].icode);
}

TEST_F(UserTypeErrors, a_device_half_that_does_not_compile_shows_the_users_file_and_line) {
  types_.write_device_half(doubled_device_half("x * two"));
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  EXPECT_THAT(text_of_error<jit::CompileError>([&] { runtime::HostProgram machine(program); }),
              AllOf(HasSubstr("the device half of doubled does not compile for the emulator"),
                    HasSubstr((types_.folder / "doubled.cuh:18").string()), HasSubstr("two")));
}

TEST_F(UserTypeErrors, a_missing_compiler_is_named) {
  ops::register_user_type(types_.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), small_);
  {
    const ScopedVariable named("MEGAKITTENS_CXX", "no-such-compiler");
    EXPECT_THAT(text_of_error<UserError>([&] { runtime::HostProgram machine(program); }),
                HasSubstr("MEGAKITTENS_CXX names 'no-such-compiler', which is no compiler"));
  }
  const ScopedVariable path("PATH", types_.folder.string());
  EXPECT_THAT(text_of_error<UserError>([&] { runtime::HostProgram machine(program); }),
              AllOf(HasSubstr("need a C++20 compiler to run on the emulator"), HasSubstr("install one")));
}

}  // namespace
}  // namespace megakittens::test
