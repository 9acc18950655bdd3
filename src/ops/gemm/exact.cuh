// Products by fused multiply-adds in the order of K: exact for fp32. A lane holds the same elements as after Hopper's
// tensor-core product, so that one epilogue serves both.
#pragma once

#include "ops/gemm/arguments.hpp"
#include "ops/gemm/staging.cuh"
#include "ops/gemm/tile.hpp"

namespace megakittens::ops::exact {

inline constexpr uint32_t kDepth = 32;        ///< elements of K staged at once
inline constexpr uint32_t kRowBytesA = 132;   ///< A as [row][k], padded so that eight rows lie in different banks
inline constexpr uint32_t kRowBytesB = 1024;  ///< B as [k][column]

/// acc += A * B for kColumns of the CTA's tile of 128 rows, from column `first` of the tile on. `page_a` and `page_b`
/// belong to this instruction.
template <int kColumns, class B>
MK_DEVICE void multiply(device::Context<B>& c, const StridedMatrix& a, const StridedMatrix& b, uint32_t page_a,
                        uint32_t page_b, Lanes<float> (&acc)[kColumns / 2], int32_t first = 0) {
  const Lanes<uint32_t> lane = device::lane_index();
  const Lanes<uint32_t> left_address = (lane >> 2) * kRowBytesA + (page_a + c.warp * 16 * kRowBytesA);
  const Lanes<uint32_t> right_address = (lane & 3u) * 8u + page_b;
  MK_ROLLED for (int32_t k = 0; k < a.depth; k += static_cast<int32_t>(kDepth)) {
    if (!c.aborted) {
      stage_float(c, a, c.index(gemm::kRow), k, gemm::kGeneralRows, page_a, kRowBytesA, 4);
      stage_float(c, b, c.index(gemm::kColumn) + first, k, kColumns, page_b, 4, kRowBytesB);
    }
    sync_consumers(c);
    const uint32_t depth = device::min(kDepth, static_cast<uint32_t>(a.depth - k));
    MK_ROLLED for (uint32_t j = 0; j < depth; ++j) {
      Lanes<float> left[2];
      MK_UNROLL for (uint32_t h = 0; h < 2; ++h) left[h] =
          device::bit_cast<float>(ptx::ld_shared_u32(left_address + (4 * j + 8 * h * kRowBytesA)));
      MK_UNROLL for (uint32_t block = 0; block < kColumns / 8; ++block) {
        const device::Words<2> right = ptx::ld_shared_v2(right_address + (j * kRowBytesB + block * 32));
        MK_UNROLL for (uint32_t i = 0; i < 4; ++i) acc[4 * block + i] =
            device::fma(left[i / 2], device::bit_cast<float>(right.w[i % 2]), acc[4 * block + i]);
      }
    }
    sync_consumers(c);
  }
  ptx::fence_proxy_async_shared_cta();  // every writer, before the pages' next bulk load (row 3)
}

}  // namespace megakittens::ops::exact
