// Words in global memory through which SMs communicate: counters, flags, flagged words. For one lane unless the
// signature has Lanes. Pointers are naturally aligned.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;

/// sm_70. PTX: "red", .release.gpu.add. The arrival on a counter (rows 8 to 13). Never acquires.
MK_DEVICE void red_release_gpu_add_u32(uint32_t* address, uint32_t value) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// sm_70. PTX: "red", .relaxed.gpu.add.
MK_DEVICE void red_relaxed_gpu_add_u32(uint32_t* address, uint32_t value) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// sm_70. PTX: "atom", .relaxed.gpu.add. Returns the value before.
MK_DEVICE uint32_t atom_relaxed_gpu_add_u32(uint32_t* address, uint32_t value) {
  uint32_t before;
  asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
  return before;
}

/// sm_70. PTX: "atom", .acq_rel.gpu.add. Returns the value before.
MK_DEVICE uint32_t atom_acq_rel_gpu_add_u32(uint32_t* address, uint32_t value) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
  return before;
}

/// sm_70. PTX: "atom", .relaxed.gpu.cas. Returns the value before; it changed if that equals `expected`.
MK_DEVICE uint32_t atom_relaxed_gpu_cas_u32(uint32_t* address, uint32_t expected, uint32_t desired) {
  uint32_t before;
  asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
               : "=r"(before)
               : "l"(address), "r"(expected), "r"(desired)
               : "memory");
  return before;
}

/// sm_70. PTX: "ld", .acquire.gpu.
MK_DEVICE uint32_t ld_acquire_gpu_u32(const uint32_t* address) {
  uint32_t value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// sm_70. PTX: "ld", .relaxed.gpu.
MK_DEVICE uint32_t ld_relaxed_gpu_u32(const uint32_t* address) {
  uint32_t value;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/// sm_70. PTX: "ld", .relaxed.gpu.b64: one single-copy atomic access (row 30).
MK_DEVICE uint64_t ld_relaxed_gpu_u64(const uint64_t* address) {
  uint64_t value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

/// sm_70. PTX: "ld", .relaxed.gpu.b64, a word in each lane at base + offset bytes (row 30).
MK_DEVICE Lanes<uint64_t> ld_relaxed_gpu_u64(const void* base, Lanes<uint64_t> offset) {
  return ld_relaxed_gpu_u64(reinterpret_cast<const uint64_t*>(static_cast<const char*>(base) + offset));
}

/// The same under a mask; other lanes get `otherwise`.
MK_DEVICE Lanes<uint64_t> ld_relaxed_gpu_u64(const void* base, Lanes<uint64_t> offset, Lanes<bool> mask,
                                             Lanes<uint64_t> otherwise) {
  uint64_t value = otherwise;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p ld.relaxed.gpu.global.u64 %0, [%1]; }"
               : "+l"(value)
               : "l"(static_cast<const char*>(base) + offset), "r"(uint32_t{mask})
               : "memory");
  return value;
}

/// sm_70. PTX: "st", .relaxed.gpu.
MK_DEVICE void st_relaxed_gpu_u32(uint32_t* address, uint32_t value) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// sm_70. PTX: "st", .relaxed.sys. For a word of the host's memory.
MK_DEVICE void st_relaxed_sys_u32(uint32_t* address, uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

/// sm_70. PTX: "st", .relaxed.gpu.b64: one single-copy atomic access (row 30).
MK_DEVICE void st_relaxed_gpu_u64(uint64_t* address, uint64_t value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}

/// sm_70. PTX: "st", .relaxed.gpu.b64, a word from each lane of the mask at base + offset bytes (row 30).
MK_DEVICE void st_relaxed_gpu_u64(void* base, Lanes<uint64_t> offset, Lanes<uint64_t> value, Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.relaxed.gpu.global.u64 [%0], %1; }" ::"l"(
                   static_cast<char*>(base) + offset),
               "l"(value), "r"(uint32_t{mask})
               : "memory");
}

/// sm_70. PTX: "st", .release.gpu.
MK_DEVICE void st_release_gpu_u32(uint32_t* address, uint32_t value) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

}  // namespace megakittens::ptx
