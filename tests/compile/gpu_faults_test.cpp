// The faults that GPU builds can have: every edit still finds its place in the sources, and what it makes compiles.
#include <gmock/gmock.h>

#include <set>

#include "support/error.hpp"
#include "support/gpu_faults.hpp"
#include "support/nvrtc.hpp"
#include "support/options.hpp"

namespace megakittens::test {
namespace {

constexpr std::size_t kShards = 8;

TEST(GpuFaults, every_edit_matches_exactly_once) {
  std::size_t edited = 0;
  for (const GpuFault& fault : gpu_faults()) {
    EXPECT_NO_THROW(edited_interpreter(fault.edits)) << fault.name;
    edited += fault.edits.empty() ? 0 : 1;
  }
  EXPECT_GT(edited, 20u);
}

TEST(GpuFaults, an_edit_that_does_not_match_or_matches_twice_is_an_error) {
  EXPECT_THROW(edited_interpreter({{"device/vocabulary/waits.cuh", "no such text", ""}}), InternalError);
  EXPECT_THROW(edited_interpreter({{"device/vocabulary/waits.cuh", "c.aborted", ""}}), InternalError);
  EXPECT_THROW(edited_interpreter({{"no/such/file.cuh", "", ""}}), InternalError);
}

TEST(GpuFaults, an_edit_reaches_the_compiler) {
  MK_NEEDS_NVRTC();
  EXPECT_THROW(jit::compile(edited_interpreter({{"device/vocabulary/waits.cuh", "kTriesPerLook = 64", "kTries = 64"}})),
               jit::CompileError);
}

// Each compiles for several seconds: one a shard, and with MEGAKITTENS_LONG=1 all of them, whose machine code is then
// compared with the unfaulted build's: an edit that the compiler undoes plants nothing.
class GpuFaultBuilds : public testing::TestWithParam<std::size_t> {};

TEST_P(GpuFaultBuilds, compile_into_the_interpreter) {
  MK_NEEDS_NVRTC();
  const bool all = flag_option(Knob::long_tests);
  const std::string unfaulted = all ? jit::compile(edited_interpreter({})).cubin : "";
  std::size_t number = 0;
  for (const GpuFault& fault : gpu_faults()) {
    if (fault.edits.empty() || number++ % kShards != GetParam()) continue;
    try {
      const jit::CompileResult result = jit::compile(edited_interpreter(fault.edits));
      EXPECT_GT(result.cubin.size(), 100'000u) << fault.name;
      if (all) {
        EXPECT_EQ(result.cubin == unfaulted, !fault.reason.empty()) << fault.name;
      }
    } catch (const jit::CompileError& error) {
      ADD_FAILURE() << fault.name << ": " << error.what();
    }
    if (!all) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, GpuFaultBuilds, testing::Range(std::size_t{0}, kShards));

}  // namespace
}  // namespace megakittens::test
