// The core vocabulary on the GPU. Never launched.
#include "compile/kernels/vocabulary.cuh"

extern "C" __global__ void every_vocabulary(float* values, uint32_t* runs) {
  uint32_t count = 0;
  values[threadIdx.x] = megakittens::device::use_vocabulary(values[threadIdx.x], count);
  runs[threadIdx.x] = count;
}
