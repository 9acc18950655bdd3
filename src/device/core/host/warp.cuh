// Warp operations on the host, where a warp is one thread of control.
#pragma once

#include <stdexcept>
#include <utility>

#include "device/core/lanes.cuh"

namespace megakittens::device {

/// Above zero inside one_lane. Twins of instructions that a single lane must execute check it; the emulator saves and
/// restores it when it switches fibres.
inline thread_local uint32_t single_lane_depth = 0;

inline Lanes<uint32_t> lane_index() {
  Lanes<uint32_t> lane;
  for (uint32_t l = 0; l < kWarpLanes; l++) lane.v[l] = l;
  return lane;
}

template <class T>
inline Lanes<T> shuffle_xor(const Lanes<T>& x, uint32_t mask) {
  Lanes<T> result;
  for (uint32_t l = 0; l < kWarpLanes; l++) result.v[l] = x.v[(l ^ mask) % kWarpLanes];
  return result;
}
template <class T>
inline Lanes<T> shuffle_index(const Lanes<T>& x, const Lanes<uint32_t>& lane) {
  Lanes<T> result;
  for (uint32_t l = 0; l < kWarpLanes; l++) result.v[l] = x.v[lane.v[l] % kWarpLanes];
  return result;
}

/// Throws where the lanes differ: on the GPU control flow would diverge.
template <class T>
inline T warp_uniform(const Lanes<T>& x) {
  for (uint32_t l = 1; l < kWarpLanes; l++)
    if (x.v[l] != x.v[0]) throw std::logic_error("warp_uniform: the lanes of the warp hold different values");
  return x.v[0];
}
template <Scalar T>
inline T warp_uniform(T x) {
  return x;
}

inline uint32_t ballot(const Lanes<bool>& mask) {
  uint32_t bits = 0;
  for (uint32_t l = 0; l < kWarpLanes; l++) bits |= uint32_t{mask.v[l]} << l;
  return bits;
}
inline bool any(const Lanes<bool>& mask) {
  return ballot(mask) != 0;
}
inline bool all(const Lanes<bool>& mask) {
  return ballot(mask) == 0xffffffff;
}

/// Marks its lifetime as executed by one lane.
struct OneLaneScope {
  OneLaneScope() { single_lane_depth++; }
  ~OneLaneScope() { single_lane_depth--; }
  OneLaneScope(const OneLaneScope&) = delete;
  OneLaneScope& operator=(const OneLaneScope&) = delete;
};

template <class F>
inline void one_lane(F&& f) {
  OneLaneScope scope;
  std::forward<F>(f)();
}
template <class F>
inline auto one_lane_value(F&& f) {
  OneLaneScope scope;
  return std::forward<F>(f)();
}

}  // namespace megakittens::device
