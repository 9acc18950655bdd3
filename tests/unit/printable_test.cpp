#include "support/printable.hpp"

#include <gtest/gtest.h>

namespace megakittens {
namespace {

TEST(Printable, text_and_line_ends_stay_as_they_are) {
  EXPECT_EQ(printable("a 'b' \n\n\t \u00a0\u00e9\u4e2d\U0001f600"), "a 'b' \n\n\t \u00a0\u00e9\u4e2d\U0001f600");
}

TEST(Printable, bytes_that_are_no_utf8_are_shown_as_their_numbers) {
  EXPECT_EQ(printable("\xc2"), "\\xc2");
  EXPECT_EQ(printable("a\xe4\xb8"), "a\\xe4\\xb8");           // cut off
  EXPECT_EQ(printable("\xff\xfe\x80z"), "\\xff\\xfe\\x80z");  // no beginnings
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");             // longer than it must be
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // half a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
}

TEST(Printable, control_characters_are_shown_as_their_numbers) {
  EXPECT_EQ(printable("\x1b[31m\r\x7f\x01"), "\\x1b[31m\\x0d\\x7f\\x01");
  EXPECT_EQ(printable_json("\"\x7f\"\n"), "\"\\u007f\"\n");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "31m"),
            "a\\x9b31m");
}

}  // namespace
}  // namespace megakittens
