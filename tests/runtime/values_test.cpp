#include "runtime/values.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ir/builder.hpp"
#include "ops/common/merge.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

using program::ElementType;
using testing::Each;
using testing::ElementsAre;

std::vector<float> through_bytes(ElementType type, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * program::size_of(type));
  from_floats(type, values, bytes);
  return to_floats(type, bytes);
}

}  // namespace

TEST(Values, every_type_keeps_what_it_can_hold) {
  EXPECT_THAT(through_bytes(ElementType::f32, {1.5f, -0.1f}), ElementsAre(1.5f, -0.1f));
  EXPECT_THAT(through_bytes(ElementType::i64, {-3, 1 << 20}), ElementsAre(-3, 1 << 20));
  EXPECT_THAT(through_bytes(ElementType::i32, {-3, 1 << 20}), ElementsAre(-3, 1 << 20));
  EXPECT_THAT(through_bytes(ElementType::boolean, {0, 2, -1}), ElementsAre(0, 1, 1));
}

TEST(Values, conversion_rounds_as_the_reference_does) {
  for (const ElementType type : {ElementType::bf16, ElementType::f16})
    for (const float value : {1.0f / 3, -70000.0f, 65519.0f, 1e-7f, 3e-8f, 1e30f}) {
      const float want = ir::round_to(type, value);
      EXPECT_THAT(through_bytes(type, {value}), ElementsAre(want)) << program::name_of(type);
    }
  EXPECT_TRUE(std::isnan(through_bytes(ElementType::bf16, {NAN})[0]));
}

TEST(Values, integers_are_truncated_and_clamped) {
  std::vector<std::byte> bytes(3 * sizeof(std::int32_t));
  from_floats(ElementType::i32, std::vector<float>{1e20f, -1e20f, NAN}, bytes);
  EXPECT_THAT(to_floats(ElementType::i32, bytes), ElementsAre(2147483648.0f, -2147483648.0f, 0));
  EXPECT_THAT(through_bytes(ElementType::i64, {-2.7f, 2.7f}), ElementsAre(-2, 2));
}

TEST(Values, random_values_are_a_function_of_the_seed_and_stay_in_range) {
  const std::vector<float> values = random_values(ElementType::bf16, 1000, 7, 0.5f);
  EXPECT_EQ(values, random_values(ElementType::bf16, 1000, 7, 0.5f));
  EXPECT_NE(values, random_values(ElementType::bf16, 1000, 8, 0.5f));
  EXPECT_THAT(values, Each(testing::AllOf(testing::Ge(-0.5f), testing::Le(0.5f))));
  EXPECT_EQ(values, through_bytes(ElementType::bf16, values));
  EXPECT_THAT(random_values(ElementType::i64, 200, 1), Each(testing::AllOf(testing::Ge(-8), testing::Le(8))));
  EXPECT_THAT(random_values(ElementType::boolean, 200, 1), testing::IsSupersetOf({0.0f, 1.0f}));
}

TEST(Values, the_right_side_of_a_product_is_scaled_by_its_depth) {
  ir::Builder builder;
  const ir::Handle x = builder.input("x", ir::DType::f32, {4, 300});
  const ir::Handle w = builder.input("w", ir::DType::f32, {300, 4});
  builder.output(builder.matmul(x, w));
  const std::vector<std::vector<float>> inputs = random_inputs(builder.build(), 1);
  EXPECT_THAT(inputs[1], Each(testing::Le(0.1001f)));
  EXPECT_THAT(inputs[0], testing::Contains(testing::Gt(0.9f)));
}

TEST(Values, a_port_is_read_and_written_through_its_strides) {
  const program::Port port{
      .name = "t", .storage = 0, .type = ElementType::f32, .offset = 1, .sizes = {2, 3}, .strides = {1, 2}};
  HostBuffer storage(7 * sizeof(float));
  const std::vector<float> dense = {1, 2, 3, 4, 5, 6};
  std::vector<std::byte> bytes(6 * sizeof(float));
  from_floats(ElementType::f32, dense, bytes);
  write_port(port, bytes, storage);
  EXPECT_THAT(to_floats(ElementType::f32, {storage.data(), storage.bytes()}), ElementsAre(0, 1, 4, 2, 5, 3, 6));
  EXPECT_EQ(read_port(port, storage), bytes);
}

TEST(Values, a_port_without_dimensions_has_one_element_and_an_empty_one_none) {
  program::Port port{.name = "s", .storage = 0, .type = ElementType::f32, .offset = 0, .sizes = {}, .strides = {}};
  EXPECT_EQ(read_port(port, HostBuffer(4)).size(), 4u);
  port.sizes = {3, 0};
  port.strides = {0, 1};
  EXPECT_TRUE(read_port(port, HostBuffer(0)).empty());
}

TEST(Values, a_tensor_larger_than_the_machine_is_refused) {
  EXPECT_THROW(HostBuffer(std::uint64_t{1} << 46), CapacityError);
  EXPECT_THROW(random_values(ElementType::f32, std::int64_t{1} << 44, 1), CapacityError);
}

}  // namespace megakittens::runtime
