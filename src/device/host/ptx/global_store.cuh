// Twin of device/ptx/global_store.cuh. Without a mask every lane stores.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

#define MK_TWIN(bits)                                                                                               \
  inline void st_global_u##bits(void* address, uint##bits##_t value) {                                              \
    host::store_one(host::Space::kGlobal, host::address_of(address), value);                                        \
  }                                                                                                                 \
  inline void st_global_u##bits(void* base, const Lanes<uint64_t>& offset, const Lanes<uint##bits##_t>& value,      \
                                const Lanes<bool>& mask = true) {                                                   \
    host::store_lanes(host::Space::kGlobal, host::addresses(base, offset), value, mask);                            \
  }
MK_TWIN(8)
MK_TWIN(16)
MK_TWIN(32)
MK_TWIN(64)
#undef MK_TWIN

inline void st_global_v2(void* base, const Lanes<uint64_t>& offset, const Words<2>& value,
                         const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}
inline void st_global_v4(void* base, const Lanes<uint64_t>& offset, const Words<4>& value,
                         const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

}  // namespace megakittens::ptx
