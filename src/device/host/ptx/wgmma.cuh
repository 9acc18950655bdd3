// Twin of device/ptx/wgmma.cuh. The products read their operands when the machine runs them; until they are retired the
// accumulators hold poison (row 25).
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

using device::Bf16;
using device::F16;
using device::kSame;
using device::Lanes;
namespace host = device::host;

inline void wgmma_fence() {
  host::require_whole_warp("wgmma.fence");
  host::wgmma_fence();
}
inline void wgmma_commit_group() {
  host::require_whole_warp("wgmma.commit_group");
  host::wgmma_commit();
}
template <int N>
inline void wgmma_wait_group() {
  host::require_whole_warp("wgmma.wait_group");
  host::wgmma_wait(N);
}
template <class T, int N>
inline void keep_in_order(Lanes<T> (&)[N]) {}

namespace detail {

template <class In>
inline constexpr host::Half kHalf = kSame<In, Bf16> ? host::Half::kBf16 : host::Half::kF16;
static_assert(sizeof(Lanes<float>) == 32 * sizeof(float));

}  // namespace detail

template <class In, int N, bool TransB, bool TransA = false>
inline void wgmma(Lanes<float> (&d)[N / 2], uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate) {
  static_assert(kSame<In, Bf16> || kSame<In, F16>);
  static_assert(N == 8 || N == 16 || N == 32 || N == 64 || N == 128 || N == 192 || N == 256);
  host::require_whole_warp("wgmma");
  host::wgmma({d[0].v, N, descriptor_a, nullptr, descriptor_b, detail::kHalf<In>, TransA, TransB, accumulate});
}
template <class In, int N, bool TransB>
inline void wgmma_a_registers(Lanes<float> (&d)[N / 2], const Lanes<uint32_t> (&a)[4], uint64_t descriptor_b,
                              bool accumulate) {
  static_assert(kSame<In, Bf16> || kSame<In, F16>);
  static_assert(N == 64 || N == 128 || N == 256);
  host::require_whole_warp("wgmma");
  host::wgmma({d[0].v, N, 0, a[0].v, descriptor_b, detail::kHalf<In>, false, TransB, accumulate});
}

}  // namespace megakittens::ptx
