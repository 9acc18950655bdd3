// Blackwell's tensor cores and tensor memory: 128 lanes by 512 columns of 32-bit words per SM. An address is lane << 16
// | column. One kernel uses one CtaGroup (1 or 2) in all of these: the assembler rejects a mix. Descriptors:
// arch/sm100/descriptor.cuh.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/operands.cuh"

namespace megakittens::ptx {

using device::Lanes;

// The same text for one CTA and for a pair.
#define MK_TCGEN05(BEFORE, AFTER, ...)                      \
  static_assert(CtaGroup == 1 || CtaGroup == 2);            \
  if constexpr (CtaGroup == 1)                              \
    asm volatile(BEFORE ".cta_group::1" AFTER __VA_ARGS__); \
  else                                                      \
    asm volatile(BEFORE ".cta_group::2" AFTER __VA_ARGS__)

/// sm_100a. PTX: "tcgen05.alloc". One warp; columns a power of two from 32 to 512. Writes the address to `destination`
/// in shared memory. With a pair, one warp of each CTA.
template <int CtaGroup>
MK_DEVICE void tcgen05_alloc(uint32_t destination, uint32_t columns) {
  MK_TCGEN05("tcgen05.alloc", ".sync.aligned.shared::cta.b32 [%0], %1;", ::"r"(destination), "r"(columns) : "memory");
}

/// sm_100a. PTX: "tcgen05.dealloc". One warp. In a pair only after a cluster barrier (row 24).
template <int CtaGroup>
MK_DEVICE void tcgen05_dealloc(uint32_t address, uint32_t columns) {
  MK_TCGEN05("tcgen05.dealloc", ".sync.aligned.b32 %0, %1;", ::"r"(address), "r"(columns) : "memory");
}

/// sm_100a. PTX: "tcgen05.relinquish_alloc_permit". One warp; no allocation after it.
template <int CtaGroup>
MK_DEVICE void tcgen05_relinquish_alloc_permit() {
  MK_TCGEN05("tcgen05.relinquish_alloc_permit", ".sync.aligned;", :: : "memory");
}

/// sm_100a. PTX: "tcgen05.mma", .kind::f16, A and B from shared memory. One lane (of the leader CTA in a pair).
template <int CtaGroup>
MK_DEVICE void tcgen05_mma_f16(uint32_t d, uint64_t descriptor_a, uint64_t descriptor_b, uint32_t instruction,
                               bool accumulate) {
  MK_TCGEN05("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma", ".kind::f16 [%0], %1, %2, %3, p; }", ::"r"(d),
             "l"(descriptor_a), "l"(descriptor_b), "r"(instruction), "r"(uint32_t{accumulate}) : "memory");
}

/// sm_100a. PTX: "tcgen05.mma", .kind::f16, A from tensor memory (two 16-bit values a word, K along the columns).
template <int CtaGroup>
MK_DEVICE void tcgen05_mma_f16_a_tensor_memory(uint32_t d, uint32_t a, uint64_t descriptor_b, uint32_t instruction,
                                               bool accumulate) {
  MK_TCGEN05("{ .reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma", ".kind::f16 [%0], [%1], %2, %3, p; }", ::"r"(d),
             "r"(a), "l"(descriptor_b), "r"(instruction), "r"(uint32_t{accumulate}) : "memory");
}

/// sm_100a. PTX: "tcgen05.commit". One lane: arrives once on `barrier` when its earlier products are done (rows 5, 19).
template <int CtaGroup>
MK_DEVICE void tcgen05_commit(uint32_t barrier) {
  MK_TCGEN05("tcgen05.commit", ".mbarrier::arrive::one.shared::cluster.b64 [%0];", ::"r"(barrier) : "memory");
}

/// sm_100a. PTX: "tcgen05.commit", .multicast::cluster: on the same offset in every CTA of the mask (row 22).
template <int CtaGroup>
MK_DEVICE void tcgen05_commit_multicast(uint32_t barrier, uint16_t cta_mask) {
  MK_TCGEN05("tcgen05.commit", ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;",
             ::"r"(barrier), "h"(cta_mask) : "memory");
}

#undef MK_TCGEN05

#define MK_OUT_WORD(x) "=r"(x)
#define MK_IN_WORD(x) "r"(x)
#define MK_TCGEN05_LD(N)                                                                       \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x" #N ".b32 {" MK_REGISTERS_##N "}, [%" #N "];" \
               : MK_OPERANDS_##N(MK_OUT_WORD, values, 0)                                       \
               : "r"(address))
#define MK_TCGEN05_ST(N)                                                                  \
  asm volatile("tcgen05.st.sync.aligned.32x32b.x" #N ".b32 [%" #N "], {" MK_REGISTERS_##N \
               "};" ::MK_OPERANDS_##N(MK_IN_WORD, values, 0),                             \
               "r"(address))

/// sm_100a. PTX: "tcgen05.ld", .32x32b.xN. A warp reads N columns of its own quarter: lane l of the warp gets lane
/// 32 * (warp % 4) + l. Values exist after tcgen05_wait_ld.
template <int N>
MK_DEVICE void tcgen05_ld_32x32b(Lanes<uint32_t> (&values)[N], uint32_t address) {
  static_assert(N == 4 || N == 8 || N == 16 || N == 32 || N == 64);
  if constexpr (N == 4) MK_TCGEN05_LD(4);
  if constexpr (N == 8) MK_TCGEN05_LD(8);
  if constexpr (N == 16) MK_TCGEN05_LD(16);
  if constexpr (N == 32) MK_TCGEN05_LD(32);
  if constexpr (N == 64) MK_TCGEN05_LD(64);
}

/// sm_100a. PTX: "tcgen05.st", .32x32b.xN. The reverse; done after tcgen05_wait_st.
template <int N>
MK_DEVICE void tcgen05_st_32x32b(uint32_t address, const Lanes<uint32_t> (&values)[N]) {
  static_assert(N == 4 || N == 8 || N == 16 || N == 32 || N == 64);
  if constexpr (N == 4) MK_TCGEN05_ST(4);
  if constexpr (N == 8) MK_TCGEN05_ST(8);
  if constexpr (N == 16) MK_TCGEN05_ST(16);
  if constexpr (N == 32) MK_TCGEN05_ST(32);
  if constexpr (N == 64) MK_TCGEN05_ST(64);
}

#undef MK_TCGEN05_LD
#undef MK_TCGEN05_ST
#undef MK_OUT_WORD
#undef MK_IN_WORD

/// sm_100a. PTX: "tcgen05.wait", ::ld of the whole warp. Takes the registers, lest their uses move before it (row 19).
template <int N>
MK_DEVICE void tcgen05_wait_ld(Lanes<uint32_t> (&values)[N]) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  MK_UNROLL for (int i = 0; i < N; i++) asm volatile("" : "+r"(values[i]));
}

/// sm_100a. PTX: "tcgen05.wait", ::st.
MK_DEVICE void tcgen05_wait_st() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

/// sm_100a. PTX: "tcgen05.fence", ::before_thread_sync (rows 20, 21).
MK_DEVICE void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

/// sm_100a. PTX: "tcgen05.fence", ::after_thread_sync (rows 19 to 21).
MK_DEVICE void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

}  // namespace megakittens::ptx
