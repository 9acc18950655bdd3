// The interpreter for racecheck: its edits find their places, no way to arrive goes past them, and it compiles.
#include <gmock/gmock.h>

#include "jit/sources.hpp"
#include "support/nvrtc.hpp"
#include "support/racecheck.hpp"

namespace megakittens::test {
namespace {

constexpr std::string_view kFile = "device/ptx/mbarrier.cuh";

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

TEST(Racecheck, compiles_with_every_edit_matching_exactly_once) {
  jit::CompileRequest request, with_a_race;
  ASSERT_NO_THROW(request = edited_interpreter(racecheck_edits()));
  ASSERT_NO_THROW(with_a_race = edited_interpreter(racecheck_edits_and_a_race()));
  MK_NEEDS_NVRTC();
  const std::string cubin = jit::compile(request).cubin;
  EXPECT_GT(cubin.size(), 100'000u);
  EXPECT_NE(jit::compile(with_a_race).cubin, cubin);
}

// No barrier has a count of its own in the edits, so all that can go wrong is an arrival that is not scaled.
TEST(Racecheck, scales_every_way_in_which_the_interpreter_arrives) {
  const std::string file = edited_interpreter(racecheck_edits()).edited_headers.at(std::string(kFile));
  const std::string scaled = "[%0], %1;\" ::\"r\"(barrier), \"r\"(parts(count))";
  EXPECT_EQ(count(file, "\"mbarrier.init."), 1u);
  EXPECT_EQ(count(file, "\"mbarrier.init.shared::cta.b64 " + scaled), 1u);
  // Whole arrivals of one lane, any number of them, and what stands before the arrival that expects bytes.
  EXPECT_EQ(count(file, "\"mbarrier.arrive.shared::cta."), 3u);
  EXPECT_EQ(count(file, "\"mbarrier.arrive.shared::cta.b64 _, [%0], 32;\""), 1u);
  EXPECT_EQ(count(file, "\"mbarrier.arrive.shared::cta.b64 _, " + scaled), 1u);
  EXPECT_EQ(count(file, "\"mbarrier.arrive.shared::cta.b64 _, [%0], 31;\""), 1u);
  for (const jit::EmbeddedSource& source : jit::embedded_sources()) {
    // Commits of tcgen05, which arrive too, are Blackwell's.
    if (source.path == kFile || source.path == "device/ptx/tcgen05.cuh") continue;
    for (const char* other :
         {"mbarrier.arrive", "mbarrier_arrive_release_cluster", "mbarrier_arrive_expect_tx_release_"})
      EXPECT_EQ(count(source.text, other), 0u) << other << " in " << source.path;
  }
}

}  // namespace
}  // namespace megakittens::test
