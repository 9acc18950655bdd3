#include "support/options.hpp"

#include <gmock/gmock.h>

#include "support/environment.hpp"
#include "support/error.hpp"
#include "support/golden.hpp"

namespace megakittens {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

TEST(Options, every_name_has_the_prefix_and_every_knob_a_sentence) {
  for (const KnobInfo& info : knobs()) {
    EXPECT_THAT(std::string(info.name), StartsWith("MEGAKITTENS_"));
    EXPECT_TRUE(info.doc.ends_with(".")) << info.name;
  }
}

TEST(Options, the_environment_wins_over_the_default) {
  const test::ScopedVariable variable("MEGAKITTENS_CACHE_DIR", "/somewhere");
  EXPECT_EQ(text_option(Knob::cache_dir), "/somewhere");
}

TEST(Options, a_flag_takes_the_usual_words_and_refuses_others) {
  for (const char* yes : {"1", "true", "on"}) {
    const test::ScopedVariable variable("MEGAKITTENS_LONG", yes);
    EXPECT_TRUE(flag_option(Knob::long_tests)) << yes;
  }
  for (const char* no : {"", "0", "false", "off"}) {
    const test::ScopedVariable variable("MEGAKITTENS_LONG", no);
    EXPECT_FALSE(flag_option(Knob::long_tests)) << no;
  }
  const test::ScopedVariable variable("MEGAKITTENS_LONG", "maybe");
  EXPECT_THAT([] { flag_option(Knob::long_tests); },
              ThrowsMessage<OptionError>(HasSubstr("MEGAKITTENS_LONG=maybe: expected 1, true")));
}

TEST(Options, an_integer_is_one_or_more_and_others_are_refused_by_name) {
  {
    const test::ScopedVariable variable("MEGAKITTENS_WAIT_LIMIT_MS", "1");
    EXPECT_EQ(integer_option(Knob::wait_limit), 1);
  }
  for (const char* value : {"0", "-1", "", "1.5", "9223372036854775808", "soon"}) {
    const test::ScopedVariable variable("MEGAKITTENS_WAIT_LIMIT_MS", value);
    EXPECT_THAT([] { integer_option(Knob::wait_limit); },
                ThrowsMessage<OptionError>(
                    HasSubstr(fmt::format("MEGAKITTENS_WAIT_LIMIT_MS={}: expected a whole number from 1 to", value))));
  }
}

TEST(Options, impossible_values_are_listed) {
  EXPECT_THAT(impossible_knobs(), ElementsAre());
  const test::ScopedVariable limit("MEGAKITTENS_WAIT_LIMIT_MS", "0");
  const test::ScopedVariable blocking("MEGAKITTENS_BLOCKING", "perhaps");
  EXPECT_THAT(impossible_knobs(), ElementsAre(HasSubstr("MEGAKITTENS_WAIT_LIMIT_MS=0: expected"),
                                              HasSubstr("MEGAKITTENS_BLOCKING=perhaps: expected 1")));
}

TEST(Options, asking_for_another_type_is_our_defect) {
  EXPECT_THROW(integer_option(Knob::log), InternalError);
}

TEST(Options, an_unknown_variable_is_named_with_the_nearest_known_one) {
  const std::vector<std::string> environment = {"HOME=/", "MEGAKITTENS_LOG=info", "MEGAKITTENS_LOGS=debug",
                                                "MEGAKITTENS_COLOUR_SCHEME=dark"};
  EXPECT_THAT(unknown_knobs(environment),
              ElementsAre("MEGAKITTENS_LOGS is set, but no option has that name; did you mean MEGAKITTENS_LOG?",
                          "MEGAKITTENS_COLOUR_SCHEME is set, but no option has that name"));
}

TEST(Options, the_reference_page_is_that_of_the_table) {
  test::expect_golden("docs/reference/knobs.md", knobs_page());
}

}  // namespace
}  // namespace megakittens
