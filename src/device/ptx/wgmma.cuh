// Warpgroup matrix products, D[64, N] += A[64, 16] * B[16, N] with 16-bit operands and float accumulators. All four
// warps of a warpgroup execute these. Lane l of warp w holds in d[8 * j / 2 ...]: d[4 * j + 2 * h + c] = D[16 * w + l /
// 4 + 8 * h, 8 * j + 2 * (l % 4) + c]. In flight, registers may not be touched until wgmma_wait_group retired the group
// (row 25). `TransB`: B lies N-major (its N dimension is contiguous) instead of K-major; `TransA`: A lies M-major.
// Descriptors: arch/sm90/descriptor.cuh.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/operands.cuh"

namespace megakittens::ptx {

using device::Bf16;
using device::F16;
using device::kSame;
using device::Lanes;

/// sm_90a. PTX: "wgmma.fence". After ordinary writes of accumulators or A registers, before the first product (row 25).
MK_DEVICE void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// sm_90a. PTX: "wgmma.commit_group".
MK_DEVICE void wgmma_commit_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// sm_90a. PTX: "wgmma.wait_group". At most N groups are still in flight.
template <int N>
MK_DEVICE void wgmma_wait_group() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

/// No instruction: the compiler may not move uses of these registers across this point.
template <class T, int N>
MK_DEVICE void keep_in_order(Lanes<T> (&values)[N]) {
  MK_UNROLL for (int i = 0; i < N; i++) {
    if constexpr (kSame<T, float>)
      asm volatile("" : "+f"(values[i]));
    else
      asm volatile("" : "+r"(values[i]));
  }
}

#define MK_INOUT_FLOAT(x) "+f"(x)
#define MK_WGMMA(N, COUNT, TYPE, A, B, P, TA, TB) \
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %" #P ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE \
               "." TYPE " {" MK_REGISTERS_##COUNT "}, %" #A ", %" #B ", p, 1, 1, %" #TA ", %" #TB "; }" \
               : MK_OPERANDS_##COUNT(MK_INOUT_FLOAT, d, 0)                                                       \
               : "l"(descriptor_a), "l"(descriptor_b), "r"(uint32_t{accumulate}), "n"(int{TransA}), "n"(int{TransB}))
#define MK_WGMMA_REGISTERS(N, COUNT, TYPE, A0, A1, A2, A3, B, P, T)                                              \
  asm volatile(                                                                                                  \
      "{ .reg .pred p; setp.ne.u32 p, %" #P ", 0; wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." TYPE "." TYPE \
      " {" MK_REGISTERS_##COUNT "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", p, 1, 1, %" #T "; }"      \
      : MK_OPERANDS_##COUNT(MK_INOUT_FLOAT, d, 0)                                                                \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_b), "r"(uint32_t{accumulate}), "n"(int{TransB}))

/// sm_90a. PTX: "wgmma.mma_async", m64nNk16, A and B from shared memory. Without `accumulate` D is
/// overwritten.
template <class In, int N, bool TransB, bool TransA = false>
MK_DEVICE void wgmma(Lanes<float> (&d)[N / 2], uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate) {
  static_assert(kSame<In, Bf16> || kSame<In, F16>);
  static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 128 || N == 192 || N == 256);
  constexpr bool kBf = kSame<In, Bf16>;
  if constexpr (kBf && N == 8) MK_WGMMA(8, 4, "bf16", 4, 5, 6, 7, 8);
  if constexpr (kBf && N == 16) MK_WGMMA(16, 8, "bf16", 8, 9, 10, 11, 12);
  if constexpr (kBf && N == 32) MK_WGMMA(32, 16, "bf16", 16, 17, 18, 19, 20);
  if constexpr (kBf && N == 64) MK_WGMMA(64, 32, "bf16", 32, 33, 34, 35, 36);
  if constexpr (kBf && N == 128) MK_WGMMA(128, 64, "bf16", 64, 65, 66, 67, 68);
  if constexpr (kBf && N == 192) MK_WGMMA(192, 96, "bf16", 96, 97, 98, 99, 100);
  if constexpr (kBf && N == 256) MK_WGMMA(256, 128, "bf16", 128, 129, 130, 131, 132);
  if constexpr (!kBf && N == 8) MK_WGMMA(8, 4, "f16", 4, 5, 6, 7, 8);
  if constexpr (!kBf && N == 16) MK_WGMMA(16, 8, "f16", 8, 9, 10, 11, 12);
  if constexpr (!kBf && N == 32) MK_WGMMA(32, 16, "f16", 16, 17, 18, 19, 20);
  if constexpr (!kBf && N == 64) MK_WGMMA(64, 32, "f16", 32, 33, 34, 35, 36);
  if constexpr (!kBf && N == 128) MK_WGMMA(128, 64, "f16", 64, 65, 66, 67, 68);
  if constexpr (!kBf && N == 192) MK_WGMMA(192, 96, "f16", 96, 97, 98, 99, 100);
  if constexpr (!kBf && N == 256) MK_WGMMA(256, 128, "f16", 128, 129, 130, 131, 132);
}

/// sm_90a. PTX: "wgmma.mma_async", A from registers: a[h + 2 * g] holds row l / 4 + 8 * h, columns 2 * (l % 4) + 8 * g
/// and the next, lower half first. They must stay untouched until the group retired.
template <class In, int N, bool TransB>
MK_DEVICE void wgmma_a_registers(Lanes<float> (&d)[N / 2], const Lanes<uint32_t> (&a)[4], uint64_t descriptor_b,
                                 bool accumulate) {
  static_assert(kSame<In, Bf16> || kSame<In, F16>);
  static_assert(N == 64 || N == 128 || N == 256);
  constexpr bool kBf = kSame<In, Bf16>;
  if constexpr (kBf && N == 64) MK_WGMMA_REGISTERS(64, 32, "bf16", 32, 33, 34, 35, 36, 37, 38);
  if constexpr (kBf && N == 128) MK_WGMMA_REGISTERS(128, 64, "bf16", 64, 65, 66, 67, 68, 69, 70);
  if constexpr (kBf && N == 256) MK_WGMMA_REGISTERS(256, 128, "bf16", 128, 129, 130, 131, 132, 133, 134);
  if constexpr (!kBf && N == 64) MK_WGMMA_REGISTERS(64, 32, "f16", 32, 33, 34, 35, 36, 37, 38);
  if constexpr (!kBf && N == 128) MK_WGMMA_REGISTERS(128, 64, "f16", 64, 65, 66, 67, 68, 69, 70);
  if constexpr (!kBf && N == 256) MK_WGMMA_REGISTERS(256, 128, "f16", 128, 129, 130, 131, 132, 133, 134);
}

#undef MK_WGMMA
#undef MK_WGMMA_REGISTERS
#undef MK_INOUT_FLOAT

}  // namespace megakittens::ptx
