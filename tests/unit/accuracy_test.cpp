#include "support/accuracy.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "ir/reference.hpp"
#include "runtime/compare.hpp"
#include "runtime/values.hpp"
#include "support/graphs.hpp"

namespace megakittens::test {
namespace {

using testing::HasSubstr;

class Accuracy : public testing::Test {
 protected:
  const ir::Graph graph = mlp(64, 64, 1);
  const std::vector<std::vector<float>> inputs = runtime::random_inputs(graph, 1);
  const std::vector<float> eager = ir::evaluate(graph, inputs).outputs[0];
  const std::vector<float> exact = ir::evaluate(graph, inputs, ir::ReferenceNumerics::exact).outputs[0];
};

TEST_F(Accuracy, eagers_own_result_and_fp32_throughout_are_good_enough) {
  EXPECT_EQ(worse_than_eager(eager, eager, exact), "");
  EXPECT_EQ(worse_than_eager(exact, eager, exact), "");
}

TEST_F(Accuracy, a_fifth_more_error_is_too_much_and_a_twentieth_is_not) {
  auto with_error = [&](float factor) {
    std::vector<float> got = exact;
    for (std::size_t i = 0; i < got.size(); ++i) got[i] += factor * (eager[i] - exact[i]);
    return worse_than_eager(got, eager, exact);
  };
  EXPECT_EQ(with_error(1.05f), "");
  EXPECT_THAT(with_error(1.2f), HasSubstr("the error against fp32 throughout is"));
}

TEST_F(Accuracy, truncation_instead_of_rounding_is_found_though_each_element_is_in_its_tolerance) {
  std::vector<float> truncated = exact;
  for (float& value : truncated) value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xffff0000u);
  EXPECT_TRUE(runtime::compare(program::ElementType::bf16, truncated, eager).ok());
  EXPECT_NE(worse_than_eager(truncated, eager, exact), "");
}

TEST_F(Accuracy, another_order_of_fp32_sums_is_not_an_error_and_more_than_that_is) {
  std::vector<float> got = exact;
  for (float& value : got) value *= 1 + 0x1p-20f;
  EXPECT_EQ(worse_than_eager(got, exact, exact), "");
  for (float& value : got) value *= 1 + 0x1p-16f;
  EXPECT_NE(worse_than_eager(got, exact, exact), "");
}

TEST_F(Accuracy, one_nan_is_too_much_where_the_reference_has_none) {
  std::vector<float> got = eager;
  got[5] = NAN;
  EXPECT_THAT(worse_than_eager(got, eager, exact), HasSubstr("is inf"));
  std::vector<float> overflown = eager;
  overflown[5] = INFINITY;
  EXPECT_EQ(worse_than_eager(got, overflown, exact), "");
}

}  // namespace
}  // namespace megakittens::test
