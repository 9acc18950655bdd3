// Fences between proxies and between scopes. Each lane that executes one fences its own accesses.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

/// sm_90. PTX: "membar / fence", fence.proxy.async: generic and async proxy, all state spaces.
MK_DEVICE void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}

/// sm_90. PTX: "membar / fence", fence.proxy.async for this CTA's shared memory (rows 3, 6, 28).
MK_DEVICE void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// sm_90. PTX: "membar / fence", fence.proxy.async for global memory: after an acquire, before a bulk load (rows 9,
/// 11).
MK_DEVICE void fence_proxy_async_global() {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

/// sm_70. PTX: "membar / fence", fence.acq_rel.cta.
MK_DEVICE void fence_acq_rel_cta() {
  asm volatile("fence.acq_rel.cta;" ::: "memory");
}

/// sm_90. PTX: "membar / fence", fence.acq_rel.cluster.
MK_DEVICE void fence_acq_rel_cluster() {
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
}

/// sm_70. PTX: "membar / fence", fence.acq_rel.gpu.
MK_DEVICE void fence_acq_rel_gpu() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/// sm_70. PTX: "membar / fence", fence.acq_rel.sys: for records that the host reads.
MK_DEVICE void fence_acq_rel_sys() {
  asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/// sm_70. PTX: "membar / fence", fence.sc.gpu: what membar.gl has meant since.
MK_DEVICE void fence_sc_gpu() {
  asm volatile("fence.sc.gpu;" ::: "memory");
}

}  // namespace megakittens::ptx
