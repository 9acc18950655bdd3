#include <gtest/gtest.h>

#include "device/arch/sm100/descriptor.cuh"
#include "device/arch/sm90/descriptor.cuh"
#include "device/tensor_map_fields.hpp"

namespace megakittens {
namespace {

using device::Swizzle;
constexpr Swizzle kAll[] = {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B};

TEST(Descriptor, hoppers_word_is_the_one_that_the_hardware_takes) {
  // Address 0x8400, leading offset 16, stride offset 1024, 128-byte swizzle: a word that ran on an H200.
  EXPECT_EQ(sm90::k_major(0x8400, Swizzle::k128B), 0x840ull | 1ull << 16 | 64ull << 32 | 1ull << 62);
  EXPECT_EQ(sm90::n_major(0x8400, Swizzle::k128B, 8192), 0x840ull | 512ull << 16 | 64ull << 32 | 1ull << 62);
  EXPECT_EQ(sm90::advance(sm90::k_major(0x8400, Swizzle::k128B), sm90::k_step_k_major()),
            sm90::k_major(0x8420, Swizzle::k128B));
  EXPECT_EQ(sm90::k_step_n_major(Swizzle::k128B) >> 4, 128u);
}

TEST(Descriptor, every_field_survives_a_round_trip_on_both_architectures) {
  for (Swizzle swizzle : kAll) {
    const sm90::MatrixDescriptor a = sm90::decode(sm90::encode({0x3fff0, 0x1230, 0x2340, 5, swizzle}));
    EXPECT_EQ(a.address, 0x3fff0u);
    EXPECT_EQ(a.leading_offset, 0x1230u);
    EXPECT_EQ(a.stride_offset, 0x2340u);
    EXPECT_EQ(a.base_offset, 5u);
    EXPECT_EQ(a.swizzle, swizzle);
    const sm100::MatrixDescriptor b =
        sm100::decode(sm100::encode(sm100::MatrixDescriptor{0x3fff0, 0x1230, 0x2340, 5, swizzle}));
    EXPECT_EQ(b.address, 0x3fff0u);
    EXPECT_EQ(b.leading_offset, 0x1230u);
    EXPECT_EQ(b.stride_offset, 0x2340u);
    EXPECT_EQ(b.base_offset, 5u);
    EXPECT_EQ(b.swizzle, swizzle);
  }
}

TEST(Descriptor, blackwells_words_follow_the_manual) {
  EXPECT_EQ(sm100::k_major(0x400, Swizzle::k128B), 0x40ull | 1ull << 16 | 64ull << 32 | 1ull << 46 | 2ull << 61);
  const uint32_t word = sm100::instruction<device::Bf16>(128, 256, false, true);
  EXPECT_EQ(word, 1u << 4 | 1u << 7 | 1u << 10 | 1u << 16 | 32u << 17 | 8u << 24);
  const sm100::InstructionDescriptor decoded = sm100::decode_instruction(word);
  EXPECT_TRUE(decoded.bf16 && decoded.trans_b && !decoded.trans_a);
  EXPECT_EQ(decoded.m, 128u);
  EXPECT_EQ(decoded.n, 256u);
}

TEST(Swizzle, exchanges_chunks_within_a_row_and_is_its_own_inverse) {
  EXPECT_EQ(device::swizzle_address<Swizzle::k128B>(uint32_t{128 * 5 + 16 * 3}), 128u * 5 + 16u * (3 ^ 5));
  for (Swizzle swizzle : kAll)
    for (uint32_t address = 0; address < 4096; address += 16) {
      const uint32_t there = device::swizzle_address(swizzle, address);
      EXPECT_EQ(device::swizzle_address(swizzle, there), address);
      EXPECT_EQ(there / swizzle_row_bytes(swizzle), address / swizzle_row_bytes(swizzle));
    }
  EXPECT_EQ(device::swizzle_address<Swizzle::kNone>(uint32_t{4080}), 4080u);
}

TEST(TensorMap, box_bytes_count_what_arrives_in_shared_memory) {
  device::TensorMapFields map{};
  map.type = device::TensorMapType::kBf16;
  map.rank = 2;
  map.box[0] = 64;
  map.box[1] = 128;
  map.element_strides[0] = map.element_strides[1] = 1;
  EXPECT_EQ(device::box_bytes(map), 64u * 128 * 2);
  map.element_strides[1] = 3;
  EXPECT_EQ(device::box_bytes(map), 64u * 43 * 2);
}

}  // namespace
}  // namespace megakittens
