// mbarrier objects in shared memory. `barrier` is a shared-window address of 8 aligned bytes. Everything here is for
// one lane (one_lane), except the waits, which a whole warp may execute on one address.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// sm_80. PTX: "mbarrier.init". Undefined over a live object (row 15).
MK_DEVICE void mbarrier_init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/// sm_80. PTX: "mbarrier.inval". The only way to give the eight bytes another use (row 15).
MK_DEVICE void mbarrier_inval(uint32_t barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

/// sm_80. PTX: "mbarrier.arrive". Releases at CTA scope.
MK_DEVICE void mbarrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// sm_90. PTX: "mbarrier.arrive" with a count of arrivals.
MK_DEVICE void mbarrier_arrive(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/// sm_90. PTX: "mbarrier.arrive", .expect_tx. First raises the phase's pending bytes, then arrives once (row 1).
MK_DEVICE void mbarrier_arrive_expect_tx(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// sm_90. PTX: "mbarrier.expect_tx". Raises the pending bytes without an arrival.
MK_DEVICE void mbarrier_expect_tx(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// sm_90. PTX: "mbarrier.arrive", .release.cluster. `remote` is a shared::cluster address from mapa (row 16).
MK_DEVICE void mbarrier_arrive_release_cluster(uint32_t remote, uint32_t count = 1) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(remote), "r"(count) : "memory");
}

/// sm_90. PTX: "mbarrier.arrive", .expect_tx, .release.cluster, on another CTA's object (row 26).
MK_DEVICE void mbarrier_arrive_expect_tx_release_cluster(uint32_t remote, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(remote), "r"(bytes)
               : "memory");
}

/// sm_90. PTX: "mbarrier.test_wait / mbarrier.try_wait", try_wait.parity. True when the phase of that parity has
/// completed (acquire at CTA scope); false after the machine's own time limit. The phase before the first counts as
/// parity 1.
MK_DEVICE bool mbarrier_try_wait_parity(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2; selp.b32 %0, 1, 0, done; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

/// sm_80. PTX: "mbarrier.test_wait / mbarrier.try_wait", test_wait.parity. As try_wait, but returns at once.
MK_DEVICE bool mbarrier_test_wait_parity(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile("{ .reg .pred done; mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2; selp.b32 %0, 1, 0, done; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

/// sm_90. PTX: "mbarrier.test_wait / mbarrier.try_wait", try_wait.parity.acquire.cluster: after arrivals of other CTAs.
MK_DEVICE bool mbarrier_try_wait_parity_acquire_cluster(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{ .reg .pred done; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;"
      " selp.b32 %0, 1, 0, done; }"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

/// sm_90. PTX: "membar / fence", fence.mbarrier_init. Makes inits visible to the cluster and its copies (row 14).
MK_DEVICE void fence_mbarrier_init_release_cluster() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// sm_90. PTX: "mapa". The shared::cluster address of `address` in the CTA of that rank in the cluster.
MK_DEVICE uint32_t mapa(uint32_t address, uint32_t rank) {
  uint32_t remote;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
  return remote;
}

}  // namespace megakittens::ptx
