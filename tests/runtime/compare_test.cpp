#include "runtime/compare.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <vector>

namespace megakittens::runtime {
namespace {

using program::ElementType;

Comparison compare_lists(ElementType type, const std::vector<float>& got, const std::vector<float>& want) {
  return compare(type, got, want);
}

}  // namespace

TEST(Compare, equal_values_have_no_error) {
  const Comparison result = compare_lists(ElementType::f32, {1, 2, 3}, {1, 2, 3});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.largest, 0);
  EXPECT_EQ(result.mean, 0);
}

TEST(Compare, errors_are_measured_and_the_first_mismatch_is_named) {
  const Comparison result = compare_lists(ElementType::f32, {1, 2.5f, 9}, {1, 2, 3});
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.worst, 1);
  EXPECT_EQ(result.largest, 6);
  EXPECT_NEAR(result.mean, 6.5 / 3, 1e-6);
  EXPECT_THAT(to_string(result), testing::HasSubstr("2 of 3 elements differ, first number 1: 2.5 instead of 2"));
}

TEST(Compare, each_type_has_its_own_tolerance) {
  EXPECT_TRUE(compare_lists(ElementType::bf16, {1.01f}, {1}).ok());
  EXPECT_FALSE(compare_lists(ElementType::f16, {1.01f}, {1}).ok());
  EXPECT_TRUE(compare_lists(ElementType::f16, {1.001f}, {1}).ok());
  EXPECT_FALSE(compare_lists(ElementType::f32, {1.001f}, {1}).ok());
  EXPECT_FALSE(compare_lists(ElementType::i64, {1}, {2}).ok());
  EXPECT_FALSE(compare_lists(ElementType::boolean, {0}, {1}).ok());
}

TEST(Compare, sums_that_cancel_keep_the_error_of_their_terms) {
  EXPECT_TRUE(compare_lists(ElementType::bf16, {0.001f, 1, 1}, {0, 1, 1}).ok());
}

TEST(Compare, nan_and_infinity_match_themselves_only) {
  const float inf = INFINITY;
  EXPECT_TRUE(compare_lists(ElementType::bf16, {NAN, inf, -inf}, {NAN, inf, -inf}).ok());
  EXPECT_EQ(compare_lists(ElementType::bf16, {NAN, inf, 1}, {1, -inf, inf}).mismatches, 3);
}

TEST(Compare, slack_widens_the_tolerance) {
  const std::vector<float> got = {1.5f};
  const std::vector<float> want = {1};
  EXPECT_FALSE(compare(ElementType::f32, got, want, 0.4).ok());
  EXPECT_TRUE(compare(ElementType::f32, got, want, 0.5).ok());
}

TEST(Compare, nothing_equals_nothing) {
  EXPECT_TRUE(compare_lists(ElementType::bf16, {}, {}).ok());
}

}  // namespace megakittens::runtime
