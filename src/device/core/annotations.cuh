// Annotations for the emulator; they do nothing on the GPU. Texts are static.
//   annotate(role, instruction)  who the warp is and what it works on, for reports
//   note_wait(what, target)      what its next waits are about
//   name_shared(address, name, index)   a place in shared memory, one of several where there is an index
//   mean_phase(phase)            which phase of an mbarrier, counted from 0, the next wait by parity is for: the
//                                emulator then reports a wait that passes early or two phases late
#pragma once

#include "device/core/types.cuh"
#if MK_ON_GPU
namespace megakittens::device {
MK_DEVICE void annotate(const char*, int64_t) {}
MK_DEVICE void note_wait(const char*, uint64_t) {}
MK_DEVICE void name_shared(uint32_t, const char*, int64_t = -1) {}
MK_DEVICE void mean_phase(uint32_t) {}
}  // namespace megakittens::device
#else
#include "device/host/annotate.cuh"
#endif
