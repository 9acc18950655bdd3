// No hand-off of the interpreter can be weakened without a finding, but for those that say why.
#include "support/weakening.hpp"

#include <gtest/gtest.h>

namespace megakittens::test {
namespace {

TEST(Weakening, of_every_hand_off_that_programs_reach_is_noticed) {
  const auto weakenings = weaken_everything(12);
  EXPECT_GT(weakenings.size(), 60u);
  for (const auto& [place, weakening] : weakenings) {
    const std::string reason = reason_for_silence(place);
    EXPECT_EQ(weakening.noticed.empty(), !reason.empty()) << to_string(place) << ": noticed as '" << weakening.noticed
                                                          << "', said to be silent because '" << reason << "'";
  }
}

}  // namespace
}  // namespace megakittens::test
