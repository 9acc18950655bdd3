// Ordinary loads of global memory. Each lane accesses base + its offset in bytes, naturally aligned; under a mask
// the other lanes touch nothing and get `otherwise`. The forms with a pointer are for one lane or for a warp whose
// lanes agree. "Ordinary": generic proxy, weak, never .nc, so what an acquire published is seen (row 8).
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;

/// sm_50. PTX: "ld", .global.u8.
MK_DEVICE uint8_t ld_global_u8(const void* address) {
  uint32_t value;
  asm volatile("ld.global.u8 %0, [%1];" : "=r"(value) : "l"(address));
  return static_cast<uint8_t>(value);
}
MK_DEVICE Lanes<uint8_t> ld_global_u8(const void* base, Lanes<uint64_t> offset) {
  return ld_global_u8(static_cast<const char*>(base) + offset);
}
MK_DEVICE Lanes<uint8_t> ld_global_u8(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask,
                                      Lanes<uint8_t> otherwise = {}) {
  uint32_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u8 %0, [%1]; }"
               : "+r"(value)
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return static_cast<uint8_t>(value);
}

/// sm_50. PTX: "ld", .global.u16.
MK_DEVICE uint16_t ld_global_u16(const void* address) {
  uint16_t value;
  asm volatile("ld.global.u16 %0, [%1];" : "=h"(value) : "l"(address));
  return value;
}
MK_DEVICE Lanes<uint16_t> ld_global_u16(const void* base, Lanes<uint64_t> offset) {
  return ld_global_u16(static_cast<const char*>(base) + offset);
}
MK_DEVICE Lanes<uint16_t> ld_global_u16(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask,
                                        Lanes<uint16_t> otherwise = {}) {
  uint16_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u16 %0, [%1]; }"
               : "+h"(value)
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .global.u32.
MK_DEVICE uint32_t ld_global_u32(const void* address) {
  uint32_t value;
  asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(address));
  return value;
}
MK_DEVICE Lanes<uint32_t> ld_global_u32(const void* base, Lanes<uint64_t> offset) {
  return ld_global_u32(static_cast<const char*>(base) + offset);
}
MK_DEVICE Lanes<uint32_t> ld_global_u32(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask,
                                        Lanes<uint32_t> otherwise = {}) {
  uint32_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u32 %0, [%1]; }"
               : "+r"(value)
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .global.u64.
MK_DEVICE uint64_t ld_global_u64(const void* address) {
  uint64_t value;
  asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(address));
  return value;
}
MK_DEVICE Lanes<uint64_t> ld_global_u64(const void* base, Lanes<uint64_t> offset) {
  return ld_global_u64(static_cast<const char*>(base) + offset);
}
MK_DEVICE Lanes<uint64_t> ld_global_u64(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask,
                                        Lanes<uint64_t> otherwise = {}) {
  uint64_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.global.u64 %0, [%1]; }"
               : "+l"(value)
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .global.v2.u32.
MK_DEVICE Words<2> ld_global_v2(const void* base, Lanes<uint64_t> offset) {
  Words<2> value;
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(value.w[0]), "=r"(value.w[1])
               : "l"(static_cast<const char*>(base) + offset));
  return value;
}
MK_DEVICE Words<2> ld_global_v2(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask, Words<2> otherwise = {}) {
  Words<2> value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, 0; @p ld.global.v2.u32 {%0, %1}, [%2]; }"
               : "+r"(value.w[0]), "+r"(value.w[1])
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return value;
}

/// sm_50. PTX: "ld", .global.v4.u32.
MK_DEVICE Words<4> ld_global_v4(const void* base, Lanes<uint64_t> offset) {
  Words<4> value;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.w[0]), "=r"(value.w[1]), "=r"(value.w[2]), "=r"(value.w[3])
               : "l"(static_cast<const char*>(base) + offset));
  return value;
}
MK_DEVICE Words<4> ld_global_v4(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask, Words<4> otherwise = {}) {
  Words<4> value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.global.v4.u32 {%0, %1, %2, %3}, [%4]; }"
               : "+r"(value.w[0]), "+r"(value.w[1]), "+r"(value.w[2]), "+r"(value.w[3])
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask}));
  return value;
}

/// sm_70. PTX: "ld.global.nc", .L1::no_allocate.v4.u32. Only for bytes that nobody writes during the kernel: weights.
MK_DEVICE Words<4> ld_global_nc_v4(const void* base, Lanes<uint64_t> offset) {
  Words<4> value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.w[0]), "=r"(value.w[1]), "=r"(value.w[2]), "=r"(value.w[3])
               : "l"(static_cast<const char*>(base) + offset));
  return value;
}

}  // namespace megakittens::ptx
