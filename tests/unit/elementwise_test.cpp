// How the elementwise type cuts a space: stretches, their boxes, and the division by which a GPU finds positions.
#include <gtest/gtest.h>

#include <random>

#include "ops/elementwise/stretches.hpp"

namespace megakittens::ops::elementwise {
namespace {

std::int64_t volume(const ir::Box& box) {
  std::int64_t count = 1;
  for (std::size_t d = 0; d < box.lo.size(); ++d) count *= box.hi[d] - box.lo[d];
  return count;
}

TEST(Elementwise, boxes_of_a_stretch_are_its_elements_each_once) {
  const ir::Extents sizes{2, 3, 5, 7};
  const std::int64_t all = ir::element_count(sizes);
  for (std::int64_t begin = 0; begin < all; ++begin)
    for (std::int64_t end = begin; end <= all; ++end) {
      const std::vector<ir::Box> boxes = boxes_of(sizes, {begin, end});
      ASSERT_LE(boxes.size(), 7U);
      std::int64_t next = begin;
      for (const ir::Box& box : boxes) {
        std::int64_t first = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
          ASSERT_LE(box.hi[d], sizes[d]);
          first = first * sizes[d] + box.lo[d];
        }
        ASSERT_EQ(first, next) << begin << " to " << end;
        next += volume(box);
      }
      ASSERT_EQ(next, end) << begin << " to " << end;
    }
}

TEST(Elementwise, what_lies_outside_a_space_has_no_boxes) {
  EXPECT_TRUE(boxes_of({0, 3, 5, 7}, {0, 9}).empty());
  EXPECT_TRUE(boxes_of({1, 1, 1, 8}, {8, 9}).empty());
  EXPECT_EQ(volume(boxes_of({1, 1, 1, 8}, {-3, 99}).at(0)), 8);
}

TEST(Elementwise, division_by_a_product_is_exact_below_two_to_the_31) {
  std::mt19937 random(1);
  auto check = [](std::uint32_t x, std::uint32_t divisor) {
    const Division by = Division::by(divisor);
    ASSERT_EQ(static_cast<std::uint32_t>(std::uint64_t{x} * by.magic >> by.shift), x / divisor)
        << x << " / " << divisor;
  };
  for (std::uint32_t divisor : {1U, 2U, 3U, 5U, 7U, 8U, 17U, 641U, 65535U, 65536U, 65537U, 0x3fffffffU, 0x7fffffffU})
    for (std::uint32_t x : {0U, 1U, divisor - 1, divisor, divisor + 1, 0x7ffffffeU, 0x7fffffffU})
      check(x & 0x7fffffff, divisor);
  for (int i = 0; i < 100000; ++i) check(random() >> 1, std::max<std::uint32_t>(random() >> (1 + random() % 31), 1));
}

std::vector<std::string> words_of(const ir::PointwiseBody& body, int operands) {
  const auto made = compile_pointwise(body, 0, operands, {ir::DType::bf16}, program::kTemporaries);
  std::vector<std::string> words;
  for (const program::CodeWord& word : std::get<Code>(made).words)
    words.push_back(std::string(program::name_of(static_cast<program::CodeOp>(word.op))) +
                    ((word.third & program::kRoundsAfter) != 0 ? ", rounded" : ""));
  return words;
}

TEST(PointwiseCode, a_rounding_is_a_bit_of_the_word_before_it) {
  using ir::PointwiseOp, ir::Ref, ir::DType;
  const ir::PointwiseBody chain{.steps = {{PointwiseOp::add, {Ref::operand(0), Ref::operand(1)}},
                                          {PointwiseOp::round, {Ref::step(0)}, DType::bf16},
                                          {PointwiseOp::exp, {Ref::step(1)}},
                                          {PointwiseOp::round, {Ref::step(2)}, DType::bf16},
                                          {PointwiseOp::round, {Ref::step(3)}, DType::f16},
                                          {PointwiseOp::neg, {Ref::step(4)}}},
                                .results = {5}};
  EXPECT_EQ(words_of(chain, 2),
            (std::vector<std::string>{"load", "add, rounded", "exp, rounded", "round", "neg", "store"}));
  // What a product does with its sums before it stages them stays two words.
  const ir::PointwiseBody linear{.steps = {{PointwiseOp::add, {Ref::accumulator(), Ref::operand(0)}},
                                           {PointwiseOp::round, {Ref::step(0)}, DType::bf16},
                                           {PointwiseOp::mul, {Ref::step(1), Ref::operand(1)}},
                                           {PointwiseOp::round, {Ref::step(2)}, DType::bf16},
                                           {PointwiseOp::sigmoid, {Ref::step(3)}}},
                                 .results = {4}};
  EXPECT_EQ(words_of(linear, 2), (std::vector<std::string>{"add", "round", "mul, rounded", "sigmoid", "store"}));
}

}  // namespace
}  // namespace megakittens::ops::elementwise
