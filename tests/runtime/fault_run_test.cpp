// What is said about a fault on a GPU, tried on the stand-in for one: it runs the emulator's interpreter, so that
// faults of the program show, and those of the interpreter's sources do not.
#include <gmock/gmock.h>
#include <unistd.h>

#include "jit/interpreter.hpp"
#include "support/environment.hpp"
#include "support/error.hpp"
#include "support/fault_run.hpp"
#include "support/stand_in.hpp"

namespace megakittens::test {
namespace {

using emulator::ProgramFault;

class FaultRun : public testing::Test {
 protected:
  FaultRun() {
    std::filesystem::create_directories(folder_);
    driver_.set("emulate", 1);
    driver_.set("launch_result", 0);
    jit::interpreter_cubin(program::Architecture::sm_90a);  // compiled into the cache, where run_fault wants it
  }
  ~FaultRun() override { std::filesystem::remove_all(folder_); }

  FaultVerdict run(const char* program, ProgramFault fault, bool reference = false) {
    return run_fault(checked_program(program), fault, {6, folder_ / program, reference});
  }

  // Of this test alone: what the process has compiled for a folder is not compiled again.
  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      fmt::format("mk-{}-{}", testing::UnitTest::GetInstance()->current_test_info()->name(), ::getpid());
  const ScopedVariable cache_{"MEGAKITTENS_CACHE_DIR", folder_.string()};
  StandInDriver driver_;
};

TEST_F(FaultRun, tells_what_testing_sees) {
  EXPECT_EQ(run("residual", ProgramFault::none, true).verdict, "not seen");
  const FaultVerdict unseen = run("residual", ProgramFault::none);
  EXPECT_EQ(unseen.verdict, "not seen");
  EXPECT_EQ(unseen.launches, 6u);
  const FaultVerdict wrong = run("residual", ProgramFault::storage_shared);
  EXPECT_EQ(wrong.verdict, "wrong");
  EXPECT_EQ(wrong.launches, 1u);
  EXPECT_THAT(wrong.detail, testing::HasSubstr("bytes differ"));
  const FaultVerdict expired = run("residual", ProgramFault::arrival_dropped);
  EXPECT_EQ(expired.verdict, "expired wait");
  EXPECT_THAT(expired.detail, testing::HasSubstr("waited"));
  EXPECT_EQ(run("residual", ProgramFault::waits_too_many).verdict, "refused");
  EXPECT_EQ(run("residual", ProgramFault::ticket_order).verdict, "no place");
  driver_.set("launch_result", 719);
  EXPECT_EQ(run("residual", ProgramFault::none).verdict, "launch error");
}

TEST_F(FaultRun, ends_where_the_unfaulted_program_is_not_right) {
  driver_.set("emulate", 0);  // nothing is computed
  EXPECT_THROW(run("residual", ProgramFault::none, true), ExecutionError);
}

/// Else a fault of what only maps in memory need could show nowhere.
TEST(GpuFaultPrograms, one_has_more_tensor_maps_than_travel_with_a_launch) {
  EXPECT_THAT(
      gpu_fault_programs(emulator::named_faults().front()),
      testing::Contains(testing::Truly([](const auto& p) { return prepare(p).maps.size() > program::kMaxCallMaps; })));
}

}  // namespace
}  // namespace megakittens::test
