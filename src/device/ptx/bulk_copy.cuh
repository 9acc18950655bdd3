// One-dimensional bulk copies and the groups they complete in. For one lane. Addresses and sizes are multiples of 16
// bytes. Loads complete on an mbarrier of the destination CTA; stores belong to the issuing lane's bulk groups.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// sm_90. PTX: "cp.async.bulk", global to shared. Raises `barrier`'s completed bytes by `bytes` when the data lies
/// there.
MK_DEVICE void cp_async_bulk_g2s(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier)
      : "memory");
}

/// sm_90. PTX: "cp.async.bulk", global to shared, .L2::cache_hint.
MK_DEVICE void cp_async_bulk_g2s_hint(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier,
                                      uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(destination),
      "l"(source), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}

/// sm_90. PTX: "cp.async.bulk", .multicast::cluster. The same offsets of data and barrier in every CTA of the mask (row
/// 26).
MK_DEVICE void cp_async_bulk_g2s_multicast(uint32_t destination, const void* source, uint32_t bytes, uint32_t barrier,
                                           uint16_t cta_mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(destination),
      "l"(source), "r"(bytes), "r"(barrier), "h"(cta_mask)
      : "memory");
}

/// sm_90. PTX: "cp.async.bulk", shared to another CTA's shared memory. Both addresses on the right are shared::cluster.
MK_DEVICE void cp_async_bulk_s2cluster(uint32_t remote, uint32_t source, uint32_t bytes, uint32_t remote_barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(remote),
      "r"(source), "r"(bytes), "r"(remote_barrier)
      : "memory");
}

/// sm_90. PTX: "cp.async.bulk", shared to global. Joins the open bulk group.
MK_DEVICE void cp_async_bulk_s2g(void* destination, uint32_t source, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(destination), "r"(source), "r"(bytes)
               : "memory");
}

/// sm_90. PTX: "cp.reduce.async.bulk", .add.f32 into global memory. Relaxed, GPU scope, in any order (row 13).
MK_DEVICE void cp_reduce_async_bulk_add_f32(void* destination, uint32_t source, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(destination),
               "r"(source), "r"(bytes)
               : "memory");
}

/// sm_90. PTX: "cp.reduce.async.bulk", .add.noftz.bf16 into global memory (row 13).
MK_DEVICE void cp_reduce_async_bulk_add_bf16(void* destination, uint32_t source, uint32_t bytes) {
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;" ::"l"(destination),
               "r"(source), "r"(bytes)
               : "memory");
}

/// sm_90. PTX: "cp.async.bulk.prefetch". A hint that orders nothing.
MK_DEVICE void cp_async_bulk_prefetch_l2(const void* source, uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(source), "r"(bytes));
}

/// sm_90. PTX: "cp.async.bulk.commit_group". Closes the lane's open group.
MK_DEVICE void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// sm_90. PTX: "cp.async.bulk.wait_group". At most N of the lane's groups are not yet complete: written and visible
/// (row 8).
template <int N>
MK_DEVICE void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory");
}

/// sm_90. PTX: "cp.async.bulk.wait_group", .read. At most N groups still read their source (row 7). Publishes nothing.
template <int N>
MK_DEVICE void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

}  // namespace megakittens::ptx
