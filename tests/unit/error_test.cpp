#include "support/error.hpp"

#include <gmock/gmock.h>

namespace megakittens {

TEST(Error, an_internal_error_names_condition_values_and_place) {
  int slot = 3;
  try {
    MK_CHECK(slot < 2, "slot {} of {}", slot, 2);
    FAIL() << "no error was thrown";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("slot 3 of 2"), testing::HasSubstr("slot < 2"),
                                             testing::HasSubstr("error_test.cpp"), testing::HasSubstr("report")));
  }
}

}  // namespace megakittens
