// Twin of device/ptx/mbarrier.cuh.
#pragma once

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

namespace host = device::host;

inline void mbarrier_init(uint32_t barrier, uint32_t count) {
  host::require_one_lane("mbarrier.init");
  host::mbarrier_init(barrier, count);
}
inline void mbarrier_inval(uint32_t barrier) {
  host::require_one_lane("mbarrier.inval");
  host::mbarrier_inval(barrier);
}
inline void mbarrier_arrive(uint32_t barrier) {
  host::require_one_lane("mbarrier.arrive");
  host::mbarrier_arrive(barrier, 1, 0, host::Scope::kCta);
}
inline void mbarrier_arrive(uint32_t barrier, uint32_t count) {
  host::require_one_lane("mbarrier.arrive");
  host::mbarrier_arrive(barrier, count, 0, host::Scope::kCta);
}
inline void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
  host::require_one_lane("mbarrier.arrive.expect_tx");
  host::mbarrier_arrive(barrier, 1, bytes, host::Scope::kCta);
}
inline void mbarrier_expect_tx(uint32_t barrier, uint32_t bytes) {
  host::require_one_lane("mbarrier.expect_tx");
  host::mbarrier_expect(barrier, bytes);
}
inline void mbarrier_arrive_release_cluster(uint32_t remote, uint32_t count = 1) {
  host::require_one_lane("mbarrier.arrive");
  host::mbarrier_arrive(remote, count, 0, host::Scope::kCluster);
}
inline void mbarrier_arrive_expect_tx_release_cluster(uint32_t remote, uint32_t bytes) {
  host::require_one_lane("mbarrier.arrive.expect_tx");
  host::mbarrier_arrive(remote, 1, bytes, host::Scope::kCluster);
}
inline bool mbarrier_try_wait_parity(uint32_t barrier, uint32_t parity) {
  return host::mbarrier_wait(barrier, parity, host::Scope::kCta, true);
}
inline bool mbarrier_test_wait_parity(uint32_t barrier, uint32_t parity) {
  return host::mbarrier_wait(barrier, parity, host::Scope::kCta, false);
}
inline bool mbarrier_try_wait_parity_acquire_cluster(uint32_t barrier, uint32_t parity) {
  return host::mbarrier_wait(barrier, parity, host::Scope::kCluster, true);
}
inline void fence_mbarrier_init_release_cluster() {
  host::fence_mbarrier_init();
}
inline uint32_t mapa(uint32_t address, uint32_t rank) {
  return host::map_address(address, rank);
}

}  // namespace megakittens::ptx
