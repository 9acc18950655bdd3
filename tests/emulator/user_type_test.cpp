// The generated test of a user's type: what is right passes, and each kind of fault is found and named.
#include <gmock/gmock.h>

#include <fstream>

#include "jit/user_interpreter.hpp"
#include "ops/user/registry.hpp"
#include "runtime/type_test.hpp"
#include "support/error.hpp"
#include "support/user_type.hpp"

namespace megakittens::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class UserTypeTest : public testing::Test {
 protected:
  /// What the generated test says of a device half.
  std::string verdict(const std::string& device_half) {
    types_.write_device_half(device_half);
    return verdict(types_.doubled());
  }
  std::string verdict(std::shared_ptr<Doubled> type) {
    ops::register_user_type(std::move(type));
    const std::string text = text_of_error<Error>(
        [&] { runtime::test_type("doubled", {.architectures = {program::Architecture::sm_90a}}); });
    ops::unregister_user_type("doubled");
    return text;
  }
  std::vector<std::filesystem::path> libraries() const {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(types_.folder / "cache"))
      if (entry.path().extension() == ".so") paths.push_back(entry.path());
    return paths;
  }

  UserTypes types_;
};

TEST_F(UserTypeTest, a_right_type_passes_on_both_architectures) {
  ops::register_user_type(types_.doubled());
  const runtime::TypeTestReport report = runtime::test_type("doubled");
  EXPECT_EQ(report.programs, 8);
  EXPECT_EQ(report.launches, 48);
  EXPECT_EQ(libraries().size(), 2u);
}

TEST_F(UserTypeTest, wrong_results_are_found) {
  EXPECT_THAT(verdict(doubled_device_half("x * 2.5f")),
              AllOf(HasSubstr("instruction type 'doubled', example 0 (f32[5, 40]), alone, sm_90a"),
                    HasSubstr("result 0 differs from the reference")));
}

TEST_F(UserTypeTest, a_half_that_does_not_wait_for_its_inputs_is_found) {
  EXPECT_THAT(verdict(doubled_device_half("x * 2.0f", "ops::pass_pages_warp(c); wait_writable_warp(c);")),
              AllOf(HasSubstr("between other operations"), HasSubstr("memory is read that nothing has written")));
}

TEST_F(UserTypeTest, a_half_that_gives_no_pages_back_is_stuck) {
  EXPECT_THAT(verdict(doubled_device_half("x * 2.0f", "wait_writable_warp(c); wait_stage_full_warp(c, 0);")),
              HasSubstr("deadlock"));
}

TEST_F(UserTypeTest, a_half_that_does_not_free_its_stage_is_stuck_when_the_ring_comes_round) {
  std::string half = doubled_device_half();
  half.replace(half.find("end(c);"), 7, "");
  EXPECT_THAT(verdict(half), AllOf(HasSubstr("many times on one SM"), HasSubstr("deadlock")));
}

TEST_F(UserTypeTest, a_half_that_frees_its_stage_twice_is_found) {
  std::string half = doubled_device_half();
  half.replace(half.find("end(c);"), 7, "end(c); end(c);");
  EXPECT_THAT(verdict(half), HasSubstr("many times on one SM"));
}

TEST_F(UserTypeTest, accesses_outside_what_is_declared_are_found) {
  auto type = types_.doubled();
  type->change_touches = [](std::vector<Touch> touches) {
    touches[0].hi[3] -= 1;  // reads one column more than it says
    return touches;
  };
  EXPECT_THAT(verdict(type), HasSubstr("[undeclared]"));
}

TEST_F(UserTypeTest, a_result_that_is_not_written_whole_is_found) {
  auto type = types_.doubled();
  type->change_plan = [](TypePlan plan) { return plan.tiles.pop_back(), plan; };
  EXPECT_THAT(verdict(type), HasSubstr("[never written]"));
}

TEST_F(UserTypeTest, a_type_that_refuses_its_example_or_has_none_is_told) {
  auto type = types_.doubled();
  type->refuse = [](const Call&) { return "not today"; };
  EXPECT_THAT(verdict(type), AllOf(HasSubstr("it refuses its own example"), HasSubstr("not today")));
  type = types_.doubled();
  type->calls.clear();
  EXPECT_THAT(verdict(type), HasSubstr("'doubled' has no examples"));
}

TEST_F(UserTypeTest, what_was_compiled_is_kept_until_a_file_changes) {
  std::ofstream(types_.folder / "two.cuh") << "#pragma once\ninline constexpr float kTwo = 2;\n";
  const std::string half = "#include \"two.cuh\"\n" + doubled_device_half("x * kTwo");
  EXPECT_EQ(verdict(half), "nothing was thrown");
  ASSERT_EQ(libraries().size(), 1u);
  const auto made = std::filesystem::last_write_time(libraries()[0]);
  EXPECT_EQ(verdict(half), "nothing was thrown");
  ASSERT_EQ(libraries().size(), 1u);
  EXPECT_EQ(std::filesystem::last_write_time(libraries()[0]), made);
  std::ofstream(types_.folder / "two.cuh") << "#pragma once\ninline constexpr float kTwo = 3;\n";
  EXPECT_THAT(verdict(half), HasSubstr("differs from the reference"));
  EXPECT_EQ(libraries().size(), 2u);
}

TEST_F(UserTypeTest, a_damaged_library_is_compiled_anew) {
  ops::register_user_type(types_.doubled());
  const std::vector<ops::DeviceHalf> halves{ops::user_types()[0]->device_half()};
  const auto path = jit::host_interpreter(jit::Architecture::kSm90a, halves);
  std::ofstream(path) << "no library";
  EXPECT_EQ(runtime::test_type("doubled", {.architectures = {program::Architecture::sm_90a}}).programs, 4);
}

}  // namespace
}  // namespace megakittens::test
