// Every tcgen05 function, in one kernel a CTA group, because one kernel may use only one.
#include "device/machine.cuh"

using namespace megakittens;
using namespace megakittens::device;

template <int N>
MK_DEVICE void round_trip(uint32_t address) {
  Lanes<uint32_t> values[N];
  ptx::tcgen05_ld_32x32b(values, address);
  ptx::tcgen05_wait_ld(values);
  ptx::tcgen05_st_32x32b(address + N, values);
}

template <int CtaGroup>
MK_DEVICE void every_function(const TensorMap* map, uint64_t a, uint64_t b, uint32_t instruction) {
  const uint32_t shared = ptx::dynamic_shared_base();
  ptx::tcgen05_alloc<CtaGroup>(shared, 512);
  ptx::tcgen05_relinquish_alloc_permit<CtaGroup>();
  const uint32_t d = ptx::ld_shared_u32(shared);
  if (ptx::elect_one()) {
    const int32_t at[2] = {0, 64};
    if constexpr (CtaGroup == 2) ptx::cp_async_bulk_tensor_g2s_pair(shared, map, at, shared + 8);
    ptx::tcgen05_mma_f16<CtaGroup>(d, a, b, instruction, true);
    ptx::tcgen05_mma_f16_a_tensor_memory<CtaGroup>(d, d + 256, b, instruction, false);
    ptx::tcgen05_commit<CtaGroup>(shared + 8);
    ptx::tcgen05_commit_multicast<CtaGroup>(shared + 8, 3);
  }
  ptx::tcgen05_fence_after_thread_sync();
  round_trip<4>(d);
  round_trip<8>(d);
  round_trip<16>(d);
  round_trip<32>(d);
  round_trip<64>(d);
  ptx::tcgen05_wait_st();
  ptx::tcgen05_fence_before_thread_sync();
  ptx::tcgen05_dealloc<CtaGroup>(d, 512);
}

extern "C" __global__ void __launch_bounds__(128, 1)
    every_tcgen05(const __grid_constant__ TensorMap map, uint64_t a, uint64_t b, uint32_t instruction) {
  every_function<1>(&map, a, b, instruction);
}

extern "C" __global__ void __launch_bounds__(128, 1)
    every_tcgen05_pair(const __grid_constant__ TensorMap map, uint64_t a, uint64_t b, uint32_t instruction) {
  every_function<2>(&map, a, b, instruction);
}
