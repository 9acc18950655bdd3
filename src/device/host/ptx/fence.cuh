// Twin of device/ptx/fence.cuh. Scopes wider than the CTA are one scope here: the emulator has one memory.
#pragma once

#include "device/core/lanes.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::ptx {

namespace host = device::host;

inline void fence_proxy_async() {
  host::fence_proxy_async(true, true);
}
inline void fence_proxy_async_shared_cta() {
  host::fence_proxy_async(true, false);
}
inline void fence_proxy_async_global() {
  host::fence_proxy_async(false, true);
}
inline void fence_acq_rel_cta() {
  host::fence_acquire_release(false);
}
inline void fence_acq_rel_cluster() {
  host::fence_acquire_release(false);
}
inline void fence_acq_rel_gpu() {
  host::fence_acquire_release(true);
}
inline void fence_acq_rel_sys() {
  host::fence_acquire_release(true);
}
inline void fence_sc_gpu() {
  host::fence_acquire_release(true);
}

}  // namespace megakittens::ptx
