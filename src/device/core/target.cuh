// Which machine this translation unit is for, and how its functions are declared. The host is g++ or clang.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define MK_ON_GPU 1
#define MK_DEVICE __device__ __forceinline__
#define MK_INLINE __attribute__((always_inline))  // behind a lambda's parameters
#define MK_UNROLL _Pragma("unroll")
#define MK_ROLLED _Pragma("unroll 1")
#else
#define MK_ON_GPU 0
#define MK_DEVICE inline
#define MK_INLINE
#define MK_UNROLL
#define MK_ROLLED
#endif
