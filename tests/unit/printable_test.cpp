#include "support/printable.hpp"

#include <gtest/gtest.h>

namespace megakittens {
namespace {

TEST(Printable, text_and_line_ends_stay_as_they_are) {
  EXPECT_EQ(printable("a 'b' \n\n\t \u00a0\u00e9\u4e2d\xc2"), "a 'b' \n\n\t \u00a0\u00e9\u4e2d\xc2");
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
