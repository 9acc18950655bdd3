// The generated test of a user's type: what is right passes, and each kind of fault is found and named.
#include <gmock/gmock.h>

#include <fstream>

#include "jit/cubin_cache.hpp"
#include "jit/interpreter.hpp"
#include "jit/sources.hpp"
#include "ops/user/registry.hpp"
#include "runtime/type_test.hpp"
#include "support/error.hpp"
#include "support/files.hpp"
#include "support/log.hpp"
#include "support/user_type.hpp"

namespace megakittens::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
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
    const std::string text = text_of_error<Error>([&] { runtime::test_type("doubled", {.target = "sm_90a"}); });
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
              AnyOf(HasSubstr("deadlock"), HasSubstr("lapped-waiter")));
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

/// What goes wrong with the cache of compiled libraries, and what is logged of it.
class UserTypeCache : public UserTypeTest {
 protected:
  UserTypeCache() {
    set_log_sink([this](LogLevel, std::string_view, std::string_view text) { log_ += std::string(text) + "\n"; });
    types_.write_device_half(doubled_device_half(
        fmt::format("x * 2.0f /* {} */", testing::UnitTest::GetInstance()->current_test_info()->name())));
    halves_.push_back(ops::register_user_type(types_.doubled()).device_half());
  }
  ~UserTypeCache() override { set_log_sink({}); }
  std::filesystem::path compiled() const { return jit::host_interpreter(program::Architecture::sm_90a, halves_); }
  bool runs() const { return runtime::test_type("doubled", {.target = "sm_90a"}).programs == 4; }

  std::filesystem::path cache_ = types_.folder / "cache";
  std::vector<ops::DeviceHalf> halves_;
  std::string log_;
};

TEST_F(UserTypeCache, a_damaged_library_is_compiled_anew_with_a_warning) {
  const auto path = compiled();
  const std::string whole = read_file(path, 1 << 28);
  // Something else; two truncations; an emptied file; damage to the code, the header and the checksum.
  std::vector<std::string> damaged = {"no library", whole.substr(0, whole.size() / 3), whole.substr(0, 5000), ""};
  for (const std::size_t at : {whole.size() / 2, std::size_t{100}, whole.size() - 20}) {
    std::string text = whole;
    for (std::size_t i = 0; i < 16; ++i) text[at + i] = static_cast<char>(text[at + i] ^ 0x55);
    damaged.push_back(text);
  }
  for (const std::string& text : damaged) {
    write_file(path, text);
    EXPECT_FALSE(jit::read_kept(path.stem().string().substr(10), path).has_value());
  }
  write_file(path, damaged[1]);
  EXPECT_TRUE(runs());
  EXPECT_THAT(log_, HasSubstr(fmt::format("'{}' is damaged or cannot be read: compiling anew", path.string())));
  EXPECT_TRUE(jit::read_kept(path.stem().string().substr(10), path).has_value());
  EXPECT_FALSE(jit::read_kept("another", path).has_value());
}

TEST_F(UserTypeCache, sources_that_are_missing_or_damaged_are_written_again) {
  const auto library = compiled();
  std::filesystem::path sources;
  for (const auto& entry : std::filesystem::directory_iterator(cache_))
    if (entry.is_directory()) sources = entry.path();
  std::filesystem::remove(sources / "device/machine.cuh");
  std::ofstream(sources / "interpreter/controller.cuh").flush();
  std::ofstream(sources / "interpreter/roles.cuh") << "another";
  std::filesystem::remove(library);
  EXPECT_EQ(compiled(), library);
  EXPECT_EQ(read_file(sources / "interpreter/roles.cuh", 1 << 20), jit::embedded_source("interpreter/roles.cuh"));
}

TEST_F(UserTypeCache, a_cache_that_cannot_be_written_costs_a_compilation_and_one_warning) {
  std::filesystem::path path;
  {
    const ScopedVariable variable("MEGAKITTENS_CACHE_DIR", (types_.folder / "doubled.cuh").string());
    path = compiled();
    EXPECT_THAT(log_, HasSubstr("the compiled interpreter with doubled is not kept, and will be compiled again next "
                                "time: cannot create"));
    const std::string once = log_;
    EXPECT_EQ(compiled(), path);
    EXPECT_TRUE(runs());
    EXPECT_EQ(log_, once);
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_NE(path.parent_path(), cache_);
}

TEST_F(UserTypeCache, no_known_cache_folder_costs_a_compilation_and_a_warning) {
  const ScopedVariable folder("MEGAKITTENS_CACHE_DIR", "");
  const ScopedVariable cache("XDG_CACHE_HOME", "");
  const ScopedVariable home("HOME", "");
  EXPECT_TRUE(runs());
  EXPECT_THAT(log_, HasSubstr("no cache folder is known (HOME is not set)"));
}

TEST_F(UserTypeCache, a_compiler_that_writes_nothing_is_named_and_leaves_nothing) {
  const ScopedVariable compiler("MEGAKITTENS_CXX", "/bin/true");
  EXPECT_THAT(text_of_error<UserError>([&] { compiled(); }),
              HasSubstr("'/bin/true' succeeded, but wrote no library: it is no C++ compiler"));
  for (const auto& entry : std::filesystem::directory_iterator(cache_))
    EXPECT_THAT(entry.path().filename().string(), testing::StartsWith("sources-"));
}

}  // namespace
}  // namespace megakittens::test
