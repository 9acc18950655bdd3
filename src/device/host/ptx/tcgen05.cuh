// Twin of device/ptx/tcgen05.cuh.
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

using device::Lanes;
namespace host = device::host;

template <int CtaGroup>
inline void tcgen05_alloc(uint32_t destination, uint32_t columns) {
  static_assert(CtaGroup == 1 || CtaGroup == 2);
  host::require_whole_warp("tcgen05.alloc");
  host::tensor_alloc(CtaGroup, destination, columns);
}
template <int CtaGroup>
inline void tcgen05_dealloc(uint32_t address, uint32_t columns) {
  host::require_whole_warp("tcgen05.dealloc");
  host::tensor_dealloc(CtaGroup, address, columns);
}
template <int CtaGroup>
inline void tcgen05_relinquish_alloc_permit() {
  host::require_whole_warp("tcgen05.relinquish_alloc_permit");
  host::tensor_relinquish(CtaGroup);
}
template <int CtaGroup>
inline void tcgen05_mma_f16(uint32_t d, uint64_t descriptor_a, uint64_t descriptor_b, uint32_t instruction,
                            bool accumulate) {
  host::require_one_lane("tcgen05.mma");
  host::tcgen_mma({CtaGroup, d, false, descriptor_a, descriptor_b, instruction, accumulate});
}
template <int CtaGroup>
inline void tcgen05_mma_f16_a_tensor_memory(uint32_t d, uint32_t a, uint64_t descriptor_b, uint32_t instruction,
                                            bool accumulate) {
  host::require_one_lane("tcgen05.mma");
  host::tcgen_mma({CtaGroup, d, true, a, descriptor_b, instruction, accumulate});
}
template <int CtaGroup>
inline void tcgen05_commit(uint32_t barrier) {
  host::require_one_lane("tcgen05.commit");
  host::tcgen_commit(CtaGroup, barrier, 0);
}
template <int CtaGroup>
inline void tcgen05_commit_multicast(uint32_t barrier, uint16_t cta_mask) {
  host::require_one_lane("tcgen05.commit");
  host::tcgen_commit(CtaGroup, barrier, cta_mask);
}
template <int N>
inline void tcgen05_ld_32x32b(Lanes<uint32_t> (&values)[N], uint32_t address) {
  static_assert(N == 4 || N == 8 || N == 16 || N == 32 || N == 64);
  host::require_whole_warp("tcgen05.ld");
  host::tensor_load(values[0].v, N, address);
}
template <int N>
inline void tcgen05_st_32x32b(uint32_t address, const Lanes<uint32_t> (&values)[N]) {
  static_assert(N == 4 || N == 8 || N == 16 || N == 32 || N == 64);
  host::require_whole_warp("tcgen05.st");
  host::tensor_store(values[0].v, N, address);
}
template <int N>
inline void tcgen05_wait_ld(Lanes<uint32_t> (&)[N]) {
  host::require_whole_warp("tcgen05.wait");
  host::tensor_wait_loads();
}
inline void tcgen05_wait_st() {
  host::require_whole_warp("tcgen05.wait");
  host::tensor_wait_stores();
}
inline void tcgen05_fence_before_thread_sync() {
  host::tensor_fence(false);
}
inline void tcgen05_fence_after_thread_sync() {
  host::tensor_fence(true);
}

}  // namespace megakittens::ptx
