#include "support/log.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/error.hpp"

namespace megakittens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Log : public ::testing::Test {
 protected:
  Log() {
    set_log_sink([this](LogLevel, std::string_view component, std::string_view message) {
      lines_.push_back(fmt::format("{}: {}", component, message));
    });
  }
  ~Log() override {
    set_log_sink({});
    set_log_levels("warning");
  }
  std::vector<std::string> lines_;
};

TEST_F(Log, passes_what_is_at_or_above_the_level) {
  set_log_levels("info");
  log(LogLevel::debug, "schedule", "{} tiles", 3);
  log(LogLevel::info, "schedule", "{} slots", 4);
  log(LogLevel::error, "runtime", "lost");
  EXPECT_THAT(lines_, ElementsAre("schedule: 4 slots", "runtime: lost"));
}

TEST_F(Log, a_component_may_have_a_level_of_its_own) {
  set_log_levels("error,schedule=debug,runtime=off");
  EXPECT_TRUE(log_enabled(LogLevel::debug, "schedule"));
  EXPECT_FALSE(log_enabled(LogLevel::warning, "jit"));
  EXPECT_FALSE(log_enabled(LogLevel::error, "runtime"));
}

TEST_F(Log, refuses_levels_it_does_not_know_and_keeps_the_old_ones) {
  set_log_levels("debug");
  EXPECT_THAT([] { set_log_levels("schedule=loud"); },
              ThrowsMessage<OptionError>(HasSubstr("log levels 'schedule=loud': 'loud' is no level")));
  EXPECT_TRUE(log_enabled(LogLevel::debug, "schedule"));
}

}  // namespace
}  // namespace megakittens
