// Vector clock over the components of one CTA: its warps and its completion channels. Missing components are zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace megakittens::emulator {

class Clock {
 public:
  std::uint32_t get(std::uint32_t component) const { return component < ticks_.size() ? ticks_[component] : 0; }
  void set(std::uint32_t component, std::uint32_t tick) {
    if (component >= ticks_.size()) ticks_.resize(component + 1, 0);
    ticks_[component] = tick;
  }
  void raise(std::uint32_t component, std::uint32_t tick) {
    if (tick > get(component)) set(component, tick);
  }
  void join(const Clock& other) {
    if (other.ticks_.size() > ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
    std::uint32_t* mine = ticks_.data();
    const std::uint32_t* theirs = other.ticks_.data();
    for (std::size_t i = 0, n = other.ticks_.size(); i < n; i++) mine[i] = std::max(mine[i], theirs[i]);
  }
  /// Keeps what both know.
  void meet(const Clock& other) {
    if (ticks_.size() > other.ticks_.size()) ticks_.resize(other.ticks_.size());
    for (std::size_t i = 0; i < ticks_.size(); i++) ticks_[i] = std::min(ticks_[i], other.ticks_[i]);
  }

 private:
  std::vector<std::uint32_t> ticks_;
};

/// Where the components of a CTA's clock lie. Each has the prefix property: who knows tick t knows every earlier one.
namespace component {
inline constexpr std::uint32_t kMaxWarps = 16;
inline constexpr std::uint32_t kWarp = 0;                            // ordinary accesses of warp w, in program order
inline constexpr std::uint32_t kBulkRead = kWarp + kMaxWarps;        // bulk groups of warp w whose source has been read
inline constexpr std::uint32_t kBulkFull = kBulkRead + kMaxWarps;    // bulk groups of warp w that are complete
inline constexpr std::uint32_t kTensorLane = kBulkFull + kMaxWarps;  // tcgen05.ld and .st of warp w
inline constexpr std::uint32_t kWgmma = kTensorLane + kMaxWarps;     // wgmma groups of a warpgroup
inline constexpr std::uint32_t kTcgen = kWgmma + kMaxWarps / 4;      // tcgen05.mma and .cp of the CTA, in issue order
inline constexpr std::uint32_t kMbarrier = kTcgen + 1;  // phases of the CTA's mbarriers, one component each
}  // namespace component

}  // namespace megakittens::emulator
