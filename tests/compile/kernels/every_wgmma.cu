// Every wgmma function, each product in a kernel of its own: one accumulator shape a kernel, as the compiler wants it.
#include "device/machine.cuh"

using namespace megakittens;
using namespace megakittens::device;

template <class In, int N, bool TransB, bool Registers, bool TransA = false>
__global__ void __launch_bounds__(128, 1) product(float* out, uint64_t a, uint64_t b, int steps) {
  Lanes<float> d[N / 2];
  for (int i = 0; i < N / 2; i++) d[i] = 0;
  Lanes<uint32_t> registers[4];
  for (int i = 0; i < 4; i++) registers[i] = ptx::laneid() * i;
  ptx::keep_in_order(registers);
  for (int k = 0; k < steps; k++) {
    ptx::wgmma_fence();
    if constexpr (Registers)
      ptx::wgmma_a_registers<In, N, TransB>(d, registers, b + k, true);
    else
      ptx::wgmma<In, N, TransB, TransA>(d, a + k, b + k, k > 0);
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
  }
  ptx::keep_in_order(d);
  for (int i = 0; i < N / 2; i++) out[128 * i + ptx::tid_x()] = d[i];
}

#define MK_PRODUCTS(In, N)                                                                \
  template __global__ void product<In, N, false, false>(float*, uint64_t, uint64_t, int); \
  template __global__ void product<In, N, true, false>(float*, uint64_t, uint64_t, int)
#define MK_OTHER_PRODUCTS(In, N)                                                      \
  template __global__ void product<In, N, false, false, true>(float*, uint64_t, uint64_t, int); \
  template __global__ void product<In, N, true, false, true>(float*, uint64_t, uint64_t, int);  \
  template __global__ void product<In, N, false, true>(float*, uint64_t, uint64_t, int); \
  template __global__ void product<In, N, true, true>(float*, uint64_t, uint64_t, int)

MK_PRODUCTS(Bf16, 8);
MK_PRODUCTS(Bf16, 16);
MK_PRODUCTS(Bf16, 32);
MK_PRODUCTS(Bf16, 64);
MK_PRODUCTS(Bf16, 128);
MK_PRODUCTS(Bf16, 192);
MK_PRODUCTS(Bf16, 256);
MK_PRODUCTS(F16, 8);
MK_PRODUCTS(F16, 16);
MK_PRODUCTS(F16, 32);
MK_PRODUCTS(F16, 64);
MK_PRODUCTS(F16, 128);
MK_PRODUCTS(F16, 192);
MK_PRODUCTS(F16, 256);
MK_OTHER_PRODUCTS(Bf16, 64);
MK_OTHER_PRODUCTS(Bf16, 128);
MK_OTHER_PRODUCTS(Bf16, 256);
MK_OTHER_PRODUCTS(F16, 64);
MK_OTHER_PRODUCTS(F16, 128);
MK_OTHER_PRODUCTS(F16, 256);
