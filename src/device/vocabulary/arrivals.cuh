// Arrivals by which one lane speaks for others. All lanes take part; `arrive(n)` does nothing but arrive, n times, on
// one mbarrier or several.
#pragma once

#include "device/vocabulary/context.cuh"

namespace megakittens::device {

inline constexpr uint32_t kWarpgroupArrivals = kConsumerWarps / 2;

/// A warp's one arrival. Its lanes' accesses come before.
template <class F>
MK_DEVICE void speak_for_warp(F&& arrive) {
  one_lane([&] { arrive(1u); });
}

/// Four arrivals of a consumer warpgroup, by its first warp: only for accesses that end for all four warps together, as
/// products do.
template <class B, class F>
MK_DEVICE void speak_for_warpgroup(const Context<B>& c, F&& arrive) {
  if (c.warp % kWarpgroupArrivals != 0) return;
  one_lane([&] { arrive(kWarpgroupArrivals); });
}

}  // namespace megakittens::device
