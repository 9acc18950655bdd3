// Ordinary stores to global memory. Each lane writes base + its offset in bytes, naturally aligned; under a mask the
// other lanes touch nothing. The forms with a pointer are for one lane. Generic proxy, weak (rows 10 and 11).
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;

/// sm_50. PTX: "st", .global.u8.
MK_DEVICE void st_global_u8(void* address, uint8_t value) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(address), "r"(uint32_t{value}) : "memory");
}
MK_DEVICE void st_global_u8(void* base, Lanes<uint64_t> offset, Lanes<uint8_t> value) {
  st_global_u8(static_cast<char*>(base) + offset, value);
}
MK_DEVICE void st_global_u8(void* base, Lanes<uint64_t> offset, Lanes<uint8_t> value, Lanes<bool> mask) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u8 [%0], %1; }" ::"l"(static_cast<char*>(base) + offset),
      "r"(uint32_t{value}), "r"(uint32_t{mask})
      : "memory");
}

/// sm_50. PTX: "st", .global.u16.
MK_DEVICE void st_global_u16(void* address, uint16_t value) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(address), "h"(value) : "memory");
}
MK_DEVICE void st_global_u16(void* base, Lanes<uint64_t> offset, Lanes<uint16_t> value) {
  st_global_u16(static_cast<char*>(base) + offset, value);
}
MK_DEVICE void st_global_u16(void* base, Lanes<uint64_t> offset, Lanes<uint16_t> value, Lanes<bool> mask) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u16 [%0], %1; }" ::"l"(static_cast<char*>(base) + offset),
      "h"(value), "r"(uint32_t{mask})
      : "memory");
}

/// sm_50. PTX: "st", .global.u32.
MK_DEVICE void st_global_u32(void* address, uint32_t value) {
  asm volatile("st.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
MK_DEVICE void st_global_u32(void* base, Lanes<uint64_t> offset, Lanes<uint32_t> value) {
  st_global_u32(static_cast<char*>(base) + offset, value);
}
MK_DEVICE void st_global_u32(void* base, Lanes<uint64_t> offset, Lanes<uint32_t> value, Lanes<bool> mask) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(static_cast<char*>(base) + offset),
      "r"(value), "r"(uint32_t{mask})
      : "memory");
}

/// sm_50. PTX: "st", .global.u64.
MK_DEVICE void st_global_u64(void* address, uint64_t value) {
  asm volatile("st.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
MK_DEVICE void st_global_u64(void* base, Lanes<uint64_t> offset, Lanes<uint64_t> value) {
  st_global_u64(static_cast<char*>(base) + offset, value);
}
MK_DEVICE void st_global_u64(void* base, Lanes<uint64_t> offset, Lanes<uint64_t> value, Lanes<bool> mask) {
  asm volatile(
      "{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u64 [%0], %1; }" ::"l"(static_cast<char*>(base) + offset),
      "l"(value), "r"(uint32_t{mask})
      : "memory");
}

/// sm_50. PTX: "st", .global.v2.u32.
MK_DEVICE void st_global_v2(void* base, Lanes<uint64_t> offset, Words<2> value) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};" ::"l"(static_cast<char*>(base) + offset), "r"(value.w[0]),
               "r"(value.w[1])
               : "memory");
}
MK_DEVICE void st_global_v2(void* base, Lanes<uint64_t> offset, Words<2> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p st.global.v2.u32 [%0], {%1, %2}; }" ::"l"(
                   static_cast<char*>(base) + offset),
               "r"(value.w[0]), "r"(value.w[1]), "r"(uint32_t{mask})
               : "memory");
}

/// sm_50. PTX: "st", .global.v4.u32.
MK_DEVICE void st_global_v4(void* base, Lanes<uint64_t> offset, Words<4> value) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(static_cast<char*>(base) + offset), "r"(value.w[0]),
               "r"(value.w[1]), "r"(value.w[2]), "r"(value.w[3])
               : "memory");
}
MK_DEVICE void st_global_v4(void* base, Lanes<uint64_t> offset, Words<4> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(
                   static_cast<char*>(base) + offset),
               "r"(value.w[0]), "r"(value.w[1]), "r"(value.w[2]), "r"(value.w[3]), "r"(uint32_t{mask})
               : "memory");
}

}  // namespace megakittens::ptx
