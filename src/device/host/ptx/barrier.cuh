// Twin of device/ptx/barrier.cuh.
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

namespace host = device::host;

inline void bar_sync(uint32_t barrier, uint32_t threads) {
  host::require_whole_warp("bar.sync");
  host::named_barrier(barrier, threads, true);
}
inline void bar_arrive(uint32_t barrier, uint32_t threads) {
  host::require_whole_warp("bar.arrive");
  host::named_barrier(barrier, threads, false);
}
inline void bar_sync_all() {
  host::require_whole_warp("bar.sync");
  host::named_barrier(0, 0, true);
}
inline void barrier_cluster_arrive_release() {
  host::require_whole_warp("barrier.cluster.arrive");
  host::cluster_barrier_arrive();
}
inline void barrier_cluster_wait_acquire() {
  host::require_whole_warp("barrier.cluster.wait");
  host::cluster_barrier_wait();
}
template <int Registers>
inline void setmaxnreg_inc() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  host::require_whole_warp("setmaxnreg");
  host::set_registers(Registers, true);
}
template <int Registers>
inline void setmaxnreg_dec() {
  static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256);
  host::require_whole_warp("setmaxnreg");
  host::set_registers(Registers, false);
}
inline void griddepcontrol_wait() {}
inline void griddepcontrol_launch_dependents() {}

}  // namespace megakittens::ptx
