// The machines that programs are made for, a row each: everything that lists targets, chooses between them or builds
// for one derives from these tables. Plain constants, host and device.
#pragma once

#include "support/integers.hpp"

namespace megakittens::program {

/// What machines with the same device sources (ops/<sources>/set.cuh) share: the numbers of an interpreter build.
struct Family {
  char sources[8];
  uint32_t warps;
  bool tensor_memory;  ///< holds the accumulators; a launcher warp issues products
  uint32_t pages;
  uint32_t page_bytes;
  uint32_t slots;
  uint32_t cluster;  ///< of programs that run on a GPU; on Hopper nothing multicasts yet and pairs start later
};
/// Pages of 32 KB, for products. Consumers issue their own tensor-core work.
inline constexpr Family kHopper{
    .sources = "sm90", .warps = 12, .tensor_memory = false, .pages = 7, .page_bytes = 32768, .slots = 2, .cluster = 1};
/// A warpgroup more, whose first warp is the launcher. Accumulators take no registers, so 512 threads have enough.
inline constexpr Family kBlackwell{
    .sources = "sm100", .warps = 16, .tensor_memory = true, .pages = 7, .page_bytes = 32768, .slots = 2, .cluster = 2};

// X(name, compute capability, family, usual multiprocessors, oldest NVRTC that compiles for it). Program files hold a
// row's number: new rows go last.
#define MK_TARGETS(X)                     \
  X(sm_90a, 9, 0, kHopper, 132, 12, 0)    \
  X(sm_100a, 10, 0, kBlackwell, 148, 12, 8) \
  X(sm_103a, 10, 3, kBlackwell, 148, 12, 9)

enum class Architecture : uint8_t {
#define MK_X(name, ...) name,
  MK_TARGETS(MK_X)
#undef MK_X
};

#if !defined(__CUDACC_RTC__)  // device code knows its family
struct Target {
  Architecture architecture;
  const char* name;  ///< as users and NVRTC call it
  int32_t major, minor;
  const Family& family;
  uint32_t sms;
  int32_t nvrtc_major, nvrtc_minor;
};

inline constexpr Target kTargets[] = {
#define MK_X(name, major, minor, family, sms, nvrtc_major, nvrtc_minor) \
  {Architecture::name, #name, major, minor, family, sms, nvrtc_major, nvrtc_minor},
    MK_TARGETS(MK_X)
#undef MK_X
};

/// The row of one of the enumerators.
constexpr const Target& target_of(Architecture architecture) {
  return kTargets[static_cast<uint32_t>(architecture)];
}

/// The row with that compute capability; null where there is none.
constexpr const Target* target_of_gpu(int32_t major, int32_t minor) {
  for (const Target& target : kTargets)
    if (target.major == major && target.minor == minor) return &target;
  return nullptr;
}
#endif

}  // namespace megakittens::program
