// Warp operations on the GPU.
#pragma once

#include "device/core/lanes.cuh"
#include "device/ptx/warp.cuh"

namespace megakittens::device {

MK_DEVICE uint32_t lane_index() {
  return ptx::laneid();
}

/// Applies a 32-bit exchange to a value of any size up to 8 bytes.
template <class T, class Exchange>
MK_DEVICE T exchange_words(T x, Exchange exchange) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8);
  if constexpr (sizeof(T) == 8) {
    const uint64_t word = bit_cast<uint64_t>(x);
    const uint64_t low = exchange(static_cast<uint32_t>(word)), high = exchange(static_cast<uint32_t>(word >> 32));
    return bit_cast<T>(high << 32 | low);
  } else if constexpr (sizeof(T) == 4) {
    return bit_cast<T>(exchange(bit_cast<uint32_t>(x)));
  } else if constexpr (sizeof(T) == 2) {
    return bit_cast<T>(static_cast<uint16_t>(exchange(bit_cast<uint16_t>(x))));
  } else {
    return bit_cast<T>(static_cast<uint8_t>(exchange(bit_cast<uint8_t>(x))));
  }
}

template <class T>
MK_DEVICE T shuffle_xor(T x, uint32_t mask) {
  return exchange_words(x, [=](uint32_t word) { return ptx::shfl_sync_bfly(word, mask); });
}
template <class T>
MK_DEVICE T shuffle_index(T x, uint32_t lane) {
  return exchange_words(x, [=](uint32_t word) { return ptx::shfl_sync_idx(word, lane); });
}
template <class T>
MK_DEVICE T warp_uniform(T x) {
  return shuffle_index(x, 0);
}

MK_DEVICE uint32_t ballot(bool mask) {
  return ptx::vote_sync_ballot(mask);
}
MK_DEVICE bool any(bool mask) {
  return ptx::vote_sync_ballot(mask) != 0;
}
MK_DEVICE bool all(bool mask) {
  return ptx::vote_sync_ballot(mask) == ptx::kAllLanes;
}

template <class F>
MK_DEVICE void one_lane(F&& f) {
  ptx::syncwarp();
  if (ptx::elect_one()) f();
  ptx::syncwarp();
}

template <class F>
MK_DEVICE auto one_lane_value(F&& f) {
  ptx::syncwarp();
  uint32_t leader;
  const bool elected = ptx::elect_one(leader);
  decltype(f()) value{};
  if (elected) value = f();
  ptx::syncwarp();
  return shuffle_index(value, leader);
}

}  // namespace megakittens::device
