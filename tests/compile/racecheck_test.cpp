// The interpreter for racecheck: its edits find their places, cover every arrival, and compile.
#include <gmock/gmock.h>

#include "jit/sources.hpp"
#include "support/nvrtc.hpp"
#include "support/racecheck.hpp"

namespace megakittens::test {
namespace {

TEST(Racecheck, compiles_with_every_edit_matching_exactly_once) {
  ASSERT_NO_THROW(edited_interpreter(racecheck_edits()));
  MK_NEEDS_NVRTC();
  EXPECT_GT(jit::compile(edited_interpreter(racecheck_edits())).cubin.size(), 100'000u);
}

// Counts are right because every init and arrival goes through the edited functions.
TEST(Racecheck, knows_every_way_in_which_the_interpreter_counts) {
  const std::string edited = edited_interpreter(racecheck_edits()).edited_headers.at("device/ptx/mbarrier.cuh");
  for (const jit::EmbeddedSource& source : jit::embedded_sources()) {
    // tcgen05 is Blackwell's, and cluster arrivals are on barriers that the interpreter does not have.
    if (!source.path.starts_with("device/ptx/")) {
      EXPECT_THAT(source.text, testing::Not(testing::HasSubstr("mbarrier_arrive_release_cluster(")))
          << source.path;
      EXPECT_THAT(source.text, testing::Not(testing::HasSubstr("mbarrier_arrive_expect_tx_release_cluster(")))
          << source.path;
      EXPECT_THAT(source.text, testing::Not(testing::HasSubstr("mbarrier.arrive"))) << source.path;
    } else if (source.path != "device/ptx/mbarrier.cuh" && !source.path.ends_with("tcgen05.cuh")) {
      EXPECT_THAT(source.text, testing::Not(testing::HasSubstr("mbarrier.arrive"))) << source.path;
    }
  }
  // In the edited file each of them is in 32nds.
  EXPECT_THAT(edited, testing::HasSubstr("mbarrier.init.shared::cta.b64 [%0], %1;\" ::\"r\"(barrier), \"r\"(parts(count))"));
  EXPECT_THAT(edited, testing::Not(testing::HasSubstr("mbarrier.arrive.shared::cta.b64 _, [%0];")));
}

}  // namespace
}  // namespace megakittens::test
