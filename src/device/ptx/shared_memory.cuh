// Ordinary loads and stores of shared memory. Each lane accesses its own address in the shared window, naturally
// aligned; under a mask the other lanes touch nothing and get `otherwise`. On the host there is also a scalar form of
// each function with one word, for one lane or for a warp whose lanes agree; on the GPU that is the same function.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;

/// sm_50. PTX: "ld", .shared.u8.
MK_DEVICE Lanes<uint8_t> ld_shared_u8(Lanes<uint32_t> address) {
  uint32_t value;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(value) : "r"(address));
  return static_cast<uint8_t>(value);
}
MK_DEVICE Lanes<uint8_t> ld_shared_u8(Lanes<uint32_t> address, Lanes<bool> mask, Lanes<uint8_t> otherwise = {}) {
  uint32_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.u8 %0, [%1]; }"
               : "+r"(value)
               : "r"(address), "r"(uint32_t{mask}));
  return static_cast<uint8_t>(value);
}

/// sm_50. PTX: "ld", .shared.u16.
MK_DEVICE Lanes<uint16_t> ld_shared_u16(Lanes<uint32_t> address) {
  uint16_t value;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(value) : "r"(address));
  return value;
}
MK_DEVICE Lanes<uint16_t> ld_shared_u16(Lanes<uint32_t> address, Lanes<bool> mask, Lanes<uint16_t> otherwise = {}) {
  uint16_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.u16 %0, [%1]; }"
               : "+h"(value)
               : "r"(address), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .shared.u32.
MK_DEVICE Lanes<uint32_t> ld_shared_u32(Lanes<uint32_t> address) {
  uint32_t value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
  return value;
}
MK_DEVICE Lanes<uint32_t> ld_shared_u32(Lanes<uint32_t> address, Lanes<bool> mask, Lanes<uint32_t> otherwise = {}) {
  uint32_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.u32 %0, [%1]; }"
               : "+r"(value)
               : "r"(address), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .shared.u64.
MK_DEVICE Lanes<uint64_t> ld_shared_u64(Lanes<uint32_t> address) {
  uint64_t value;
  asm volatile("ld.shared.u64 %0, [%1];" : "=l"(value) : "r"(address));
  return value;
}
MK_DEVICE Lanes<uint64_t> ld_shared_u64(Lanes<uint32_t> address, Lanes<bool> mask, Lanes<uint64_t> otherwise = {}) {
  uint64_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.shared.u64 %0, [%1]; }"
               : "+l"(value)
               : "r"(address), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .shared.v2.u32.
MK_DEVICE Words<2> ld_shared_v2(Lanes<uint32_t> address) {
  Words<2> value;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(value.w[0]), "=r"(value.w[1]) : "r"(address));
  return value;
}
MK_DEVICE Words<2> ld_shared_v2(Lanes<uint32_t> address, Lanes<bool> mask, Words<2> otherwise = {}) {
  Words<2> value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.shared.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(value.w[0]), "+r"(value.w[1])
               : "r"(address), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .shared.v4.u32.
MK_DEVICE Words<4> ld_shared_v4(Lanes<uint32_t> address) {
  Words<4> value;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.w[0]), "=r"(value.w[1]), "=r"(value.w[2]), "=r"(value.w[3])
               : "r"(address));
  return value;
}
MK_DEVICE Words<4> ld_shared_v4(Lanes<uint32_t> address, Lanes<bool> mask, Words<4> otherwise = {}) {
  Words<4> value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(value.w[0]), "+r"(value.w[1]), "+r"(value.w[2]), "+r"(value.w[3])
               : "r"(address), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "st", .shared.u8.
MK_DEVICE void st_shared_u8(Lanes<uint32_t> address, Lanes<uint8_t> value) {
  asm volatile("st.shared.u8 [%0], %1;" ::"r"(address), "r"(uint32_t{value}) : "memory");
}
MK_DEVICE void st_shared_u8(Lanes<uint32_t> address, Lanes<uint8_t> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u8 [%0], %1; }" ::"r"(address), "r"(uint32_t{value}),
               "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .shared.u16.
MK_DEVICE void st_shared_u16(Lanes<uint32_t> address, Lanes<uint16_t> value) {
  asm volatile("st.shared.u16 [%0], %1;" ::"r"(address), "h"(value) : "memory");
}
MK_DEVICE void st_shared_u16(Lanes<uint32_t> address, Lanes<uint16_t> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u16 [%0], %1; }" ::"r"(address), "h"(value),
               "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .shared.u32.
MK_DEVICE void st_shared_u32(Lanes<uint32_t> address, Lanes<uint32_t> value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
MK_DEVICE void st_shared_u32(Lanes<uint32_t> address, Lanes<uint32_t> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1; }" ::"r"(address), "r"(value),
               "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .shared.u64.
MK_DEVICE void st_shared_u64(Lanes<uint32_t> address, Lanes<uint64_t> value) {
  asm volatile("st.shared.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}
MK_DEVICE void st_shared_u64(Lanes<uint32_t> address, Lanes<uint64_t> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u64 [%0], %1; }" ::"r"(address), "l"(value),
               "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .shared.v2.u32.
MK_DEVICE void st_shared_v2(Lanes<uint32_t> address, Words<2> value) {
  asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(address), "r"(value.w[0]), "r"(value.w[1]) : "memory");
}
MK_DEVICE void st_shared_v2(Lanes<uint32_t> address, Words<2> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.shared.v2.u32 [%0], {%1, %2}; }" ::"r"(address),
               "r"(value.w[0]), "r"(value.w[1]), "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .shared.v4.u32.
MK_DEVICE void st_shared_v4(Lanes<uint32_t> address, Words<4> value) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.w[0]), "r"(value.w[1]),
               "r"(value.w[2]), "r"(value.w[3])
               : "memory");
}
MK_DEVICE void st_shared_v4(Lanes<uint32_t> address, Words<4> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.shared.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"r"(address),
               "r"(value.w[0]), "r"(value.w[1]), "r"(value.w[2]), "r"(value.w[3]), "r"(uint32_t{mask})
               : "memory");
}

}  // namespace megakittens::ptx
