// D[64, N] += A[64, 64] * B[64, N] in four products, of one group but for N = 256. The input holds A ([m][k], 16-bit),
// B ([k][n], 16-bit) and D ([m][n], float). p.a: the swizzle of both operands in shared memory. p.b: whether D counts
// (scale-d).
#pragma once

#include "device/arch/sm90/descriptor.cuh"
#include "gpu/twins/twin.cuh"

namespace megakittens::twins {

inline constexpr uint32_t kProductM = 64, kProductK = 64;
inline constexpr uint32_t kBytesA = kProductM * kProductK * 2;

/// Where element `inner` of line `outer` lies: blocks of one row of the pattern, each with all its lines.
template <class T>
MK_DEVICE T place(Swizzle swizzle, uint32_t page, T outer, T inner, uint32_t lines) {
  const uint32_t row = swizzle_row_bytes(swizzle);
  const T linear = inner * 2u / row * (lines * row) + outer * row + inner * 2u % row;
  const uint32_t chunks = ((1u << static_cast<uint32_t>(swizzle)) - 1) << 4;
  const T address = linear + page;
  return address ^ (address >> 3 & chunks);
}

/// The four warps write `lines` x `columns` of the input, transposed or not, as one operand.
MK_DEVICE void fill_operand(const Parameters& p, uint32_t from, uint32_t lines, uint32_t columns, bool transposed,
                            uint32_t page) {
  for (uint32_t i = 0; i < lines * columns; i += 128) {
    const Lanes<uint32_t> element = ptx::tid_x() + i;
    const Lanes<uint32_t> line = element / columns, column = element % columns;
    const Lanes<uint32_t> outer = transposed ? column : line, inner = transposed ? line : column;
    ptx::st_shared_u16(
        place<Lanes<uint32_t>>(static_cast<Swizzle>(p.a), page, outer, inner, transposed ? columns : lines),
        ptx::ld_global_u16(p.in + from, element * 2u));
  }
}

/// Byte of D's element that register 0 holds, and how much further that of register r is.
template <int N>
MK_DEVICE Lanes<uint32_t> first_of_d() {
  return ((lane_index() / 4u + 16 * warp_number()) * uint32_t{N} + lane_index() % 4u * 2u) * 4u;
}
template <int N>
MK_DEVICE uint32_t step_of_d(uint32_t r) {
  return (8 * (r / 2 % 2) * uint32_t{N} + 8 * (r / 4) + r % 2) * 4;
}

/// A's registers of one step.
MK_DEVICE void load_fragments(const Parameters& p, uint32_t k, Lanes<uint32_t> (&fragments)[4]) {
  MK_UNROLL for (uint32_t r = 0; r < 4; r++) {
    const uint32_t row = 16 * warp_number() + 8 * (r % 2), column = 16 * k + 8 * (r / 2);
    fragments[r] =
        ptx::ld_global_u32(p.in, ((lane_index() / 4u + row) * kProductK + lane_index() % 4u * 2u + column) * 2u);
  }
  ptx::keep_in_order(fragments);
}

/// Where A lies: in shared memory, K contiguous or M, or in registers.
enum class From { k_major, m_major, registers };

template <class In, int N, bool TransB, From kFrom>
MK_DEVICE void product(const Parameters& p) {
  constexpr uint32_t kGroup = N > 128 ? 1 : 4;  // four steps of the largest do not fit into the registers
  const Swizzle swizzle = static_cast<Swizzle>(p.a);
  const uint32_t a = ptx::dynamic_shared_base(), b = a + kBytesA;
  fill_operand(p, 0, kProductM, kProductK, kFrom == From::m_major, a);
  fill_operand(p, kBytesA, kProductK, N, !TransB, b);
  ptx::fence_proxy_async_shared_cta();
  ptx::bar_sync(1, 128);
  Lanes<uint32_t> first[1] = {first_of_d<N>()};
  Lanes<float> d[N / 2];
  MK_UNROLL for (uint32_t r = 0; r < N / 2; r++) {
    d[r] = bit_cast<float>(ptx::ld_global_u32(p.in + kBytesA + kProductK * N * 2, first[0] + step_of_d<N>(r)));
    ptx::keep_in_order(first);  // or the compiler keeps every offset for the stores
  }
  const uint32_t row_bytes = swizzle_row_bytes(swizzle);
  // Blocks along K of a K-major operand lie `lines` rows apart: within one of them a step is 32 bytes.
  auto k_step = [&](uint32_t page, uint32_t lines, uint32_t k) {
    const uint32_t start = page + (32 * k & ~(row_bytes - 1)) * lines + (32 * k & (row_bytes - 1));
    return sm90::k_major(start, swizzle, swizzle == Swizzle::kNone ? lines * row_bytes : 16);
  };
  auto turned_step = [&](uint32_t page, uint32_t k) {
    const uint32_t start = page + k * sm90::k_step_n_major(swizzle), block = kProductK * row_bytes;
    // Without a swizzle the two offsets change their roles, which n_major does not say.
    if (swizzle == Swizzle::kNone) return sm90::encode({start, swizzle_atom_bytes(swizzle), block, 0, swizzle});
    return sm90::n_major(start, swizzle, block);
  };
  auto b_step = [&](uint32_t k) { return TransB ? turned_step(b, k) : k_step(b, N, k); };
  auto a_step = [&](uint32_t k) { return kFrom == From::m_major ? turned_step(a, k) : k_step(a, kProductM, k); };
  Lanes<uint32_t> fragments[kGroup][4];
  MK_ROLLED for (uint32_t group = 0; group < 4; group += kGroup) {
    if constexpr (kFrom == From::registers) {
      MK_UNROLL for (uint32_t k = 0; k < kGroup; k++) load_fragments(p, group + k, fragments[k]);
    }
    ptx::wgmma_fence();
    MK_UNROLL for (uint32_t i = 0; i < kGroup; i++) {
      const uint32_t k = group + i;
      if constexpr (kFrom == From::registers)
        ptx::wgmma_a_registers<In, N, TransB>(d, fragments[i], b_step(k), k > 0 || p.b != 0);
      else
        ptx::wgmma<In, N, TransB, kFrom == From::m_major>(d, a_step(k), b_step(k), k > 0 || p.b != 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }
  ptx::keep_in_order(d);
  MK_UNROLL for (uint32_t r = 0; r < N / 2; r++) {
    ptx::keep_in_order(first);
    ptx::st_global_u32(p.out, first[0] + step_of_d<N>(r), bit_cast<uint32_t>(d[r]));
  }
}

/// X(type's name, type, N, how B lies, TransB, where A lies)
#define MK_TWIN_PRODUCTS_OF(X, NAME, IN, N) \
  X(NAME, IN, N, k_major, false, k_major)   \
  X(NAME, IN, N, n_major, true, k_major)
#define MK_TWIN_PRODUCTS_ELSEWHERE(X, NAME, IN, N) \
  X(NAME, IN, N, k_major, false, m_major)          \
  X(NAME, IN, N, n_major, true, m_major)           \
  X(NAME, IN, N, k_major, false, registers)        \
  X(NAME, IN, N, n_major, true, registers)
#define MK_TWIN_PRODUCTS(X, NAME, IN)        \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 8)        \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 16)       \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 32)       \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 64)       \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 128)      \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 192)      \
  MK_TWIN_PRODUCTS_OF(X, NAME, IN, 256)      \
  MK_TWIN_PRODUCTS_ELSEWHERE(X, NAME, IN, 64)  \
  MK_TWIN_PRODUCTS_ELSEWHERE(X, NAME, IN, 128) \
  MK_TWIN_PRODUCTS_ELSEWHERE(X, NAME, IN, 256)

#define MK_PRODUCT(NAME, IN, N, LAYOUT, TRANS, FROM)          \
  MK_TWIN(twin_wgmma_##NAME##_##N##_##LAYOUT##_##FROM, 128) { \
    product<IN, N, TRANS, From::FROM>(p);                     \
  }
MK_TWIN_PRODUCTS(MK_PRODUCT, bf16, Bf16)
MK_TWIN_PRODUCTS(MK_PRODUCT, f16, F16)
#undef MK_PRODUCT

}  // namespace megakittens::twins
