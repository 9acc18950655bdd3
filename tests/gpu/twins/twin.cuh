// What twin kernels share. A twin kernel is one source for both machines: NVRTC compiles it to a kernel of the GPU, the
// host's compiler to a function that the emulator runs. tests/support/twins/ says with what it is launched.
#pragma once

#include "device/core/float16.cuh"
#include "device/core/warp.cuh"
#include "device/machine.cuh"

namespace megakittens::twins {

using namespace device;

/// The one argument of every twin kernel. `in` and `out` are global memory, multiples of 256; the rest is the case's.
struct Parameters {
  TensorMap map;
  const char* in;
  char* out;
  uint32_t a, b, c, d;
  int32_t at[5];
};

/// MK_TWIN(name, threads) { ... p ... }
#if MK_ON_GPU
#define MK_TWIN(name, threads)                        \
  extern "C" __global__ void __launch_bounds__(threads, 1) \
      name(const __grid_constant__ megakittens::twins::Parameters p)
#else
#define MK_TWIN(name, threads) inline void name(const Parameters& p)
#endif

/// Nanoseconds after which a wait is given up with a trap. On the host time stands still: a deadlock is reported.
inline constexpr uint64_t kPatience = 2'000'000'000;

/// For loops that wait: `while (!done()) patience.spend();`
struct Patience {
  uint64_t start = ptx::globaltimer();
  MK_DEVICE void spend() const {
    if (ptx::globaltimer() - start > kPatience) ptx::trap();
  }
};

MK_DEVICE uint32_t warp_number() {
  return warp_uniform(ptx::tid_x() / kWarpLanes);
}

MK_DEVICE void wait(uint32_t barrier, uint32_t parity) {
  const Patience patience;
  while (!ptx::mbarrier_try_wait_parity(barrier, parity)) patience.spend();
}

/// Initialises mbarriers in warp 0 and publishes them to the CTA and to copies (row 14).
template <class F>
MK_DEVICE void set_up(F init) {
  if (warp_number() == 0)
    one_lane([&] {
      init();
      ptx::fence_mbarrier_init_release_cluster();
    });
  ptx::bar_sync_all();
}

MK_DEVICE void cluster_sync() {
  ptx::barrier_cluster_arrive_release();
  ptx::barrier_cluster_wait_acquire();
}

/// Word `i` + lane of the input, counted from byte `from`.
MK_DEVICE Lanes<uint32_t> word_in(const Parameters& p, uint32_t i, uint32_t from = 0) {
  return ptx::ld_global_u32(p.in + from, (lane_index() + i) * 4u);
}
MK_DEVICE void word_out(const Parameters& p, uint32_t i, Lanes<uint32_t> word) {
  ptx::st_global_u32(p.out, (lane_index() + i) * 4u, word);
}

/// One warp writes `bytes` of the input, from byte `from`, to shared memory by ordinary stores. Multiples of 4.
MK_DEVICE void fill_shared(const Parameters& p, uint32_t shared, uint32_t bytes, uint32_t from = 0) {
  for (uint32_t i = 0; i < bytes; i += 128) {
    const Lanes<uint32_t> at = lane_index() * 4u + i;
    const Lanes<bool> mask = at < bytes;
    ptx::st_shared_u32(at + shared, ptx::ld_global_u32(p.in + from, at, mask), mask);
  }
}
/// One warp writes `bytes` of shared memory to the output, to byte `to`. Multiples of 4.
MK_DEVICE void copy_out(const Parameters& p, uint32_t shared, uint32_t bytes, uint32_t to = 0) {
  for (uint32_t i = 0; i < bytes; i += 128) {
    const Lanes<uint32_t> at = lane_index() * 4u + i;
    const Lanes<bool> mask = at < bytes;
    ptx::st_global_u32(p.out + to, at, ptx::ld_shared_u32(at + shared, mask), mask);
  }
}

}  // namespace megakittens::twins
