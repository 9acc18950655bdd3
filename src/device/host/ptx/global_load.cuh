// Twin of device/ptx/global_load.cuh. Without a mask every lane loads.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

#define MK_TWIN(bits)                                                                                              \
  inline uint##bits##_t ld_global_u##bits(const void* address) {                                                   \
    return host::load_one<uint##bits##_t>(host::Space::kGlobal, host::address_of(address));                        \
  }                                                                                                                \
  inline Lanes<uint##bits##_t> ld_global_u##bits(const void* base, const Lanes<uint64_t>& offset,                  \
                                                 const Lanes<bool>& mask = true,                                   \
                                                 const Lanes<uint##bits##_t>& otherwise = {}) {                    \
    return host::load_lanes<uint##bits##_t>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise); \
  }
MK_TWIN(8)
MK_TWIN(16)
MK_TWIN(32)
MK_TWIN(64)
#undef MK_TWIN

inline Words<2> ld_global_v2(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                             const Words<2>& otherwise = {}) {
  return host::load_words<2>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}
inline Words<4> ld_global_v4(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                             const Words<4>& otherwise = {}) {
  return host::load_words<4>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}
inline Words<4> ld_global_nc_v4(const void* base, const Lanes<uint64_t>& offset) {
  return host::load_constant_words<4>(host::addresses(base, offset));
}

}  // namespace megakittens::ptx
