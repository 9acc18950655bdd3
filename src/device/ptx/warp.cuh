// What the lanes of one warp do together. All lanes of the warp execute these.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;

inline constexpr uint32_t kAllLanes = 0xffffffff;

/// sm_10. PTX: "%laneid".
MK_DEVICE Lanes<uint32_t> laneid() {
  uint32_t value;
  asm("mov.u32 %0, %%laneid;" : "=r"(value));
  return value;
}

/// sm_30. PTX: "bar.warp.sync". Orders the lanes' accesses among each other.
MK_DEVICE void syncwarp() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

/// sm_90. PTX: "elect.sync". True in one lane, the same one every time. Use device::one_lane.
MK_DEVICE Lanes<bool> elect_one() {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(elected));
  return elected != 0;
}

/// The same; every lane also learns which lane it is.
MK_DEVICE Lanes<bool> elect_one(uint32_t& leader) {
  uint32_t elected;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }" : "=r"(leader), "=r"(elected));
  return elected != 0;
}

/// sm_30. PTX: "shfl.sync", .bfly. Each lane gets the word of lane (its index ^ mask).
MK_DEVICE Lanes<uint32_t> shfl_sync_bfly(Lanes<uint32_t> value, uint32_t mask) {
  uint32_t result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(mask));
  return result;
}

/// sm_30. PTX: "shfl.sync", .idx. Each lane gets the word of lane (index % 32).
MK_DEVICE Lanes<uint32_t> shfl_sync_idx(Lanes<uint32_t> value, Lanes<uint32_t> index) {
  uint32_t result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(index));
  return result;
}

/// sm_30. PTX: "vote.sync", .ballot. Bit l is lane l's value.
MK_DEVICE uint32_t vote_sync_ballot(Lanes<bool> value) {
  uint32_t bits;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
               : "=r"(bits)
               : "r"(uint32_t{value}));
  return bits;
}

}  // namespace megakittens::ptx
