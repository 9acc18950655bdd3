// Twin of device/ptx/shared_memory.cuh. The scalar forms are for one lane, or for a warp whose lanes agree; without a
// mask every lane takes part.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

#define MK_TWIN(bits)                                                                                             \
  inline uint##bits##_t ld_shared_u##bits(uint32_t address) {                                                     \
    return host::load_one<uint##bits##_t>(host::Space::kShared, address);                                         \
  }                                                                                                               \
  inline Lanes<uint##bits##_t> ld_shared_u##bits(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,  \
                                                 const Lanes<uint##bits##_t>& otherwise = {}) {                   \
    return host::load_lanes<uint##bits##_t>(host::Space::kShared, address, mask, otherwise);                      \
  }                                                                                                               \
  inline void st_shared_u##bits(uint32_t address, uint##bits##_t value) {                                         \
    host::store_one(host::Space::kShared, address, value);                                                        \
  }                                                                                                               \
  inline void st_shared_u##bits(const Lanes<uint32_t>& address, const Lanes<uint##bits##_t>& value,               \
                                const Lanes<bool>& mask = true) {                                                 \
    host::store_lanes(host::Space::kShared, address, value, mask);                                                \
  }
MK_TWIN(8)
MK_TWIN(16)
MK_TWIN(32)
MK_TWIN(64)
#undef MK_TWIN

#define MK_TWIN(words)                                                                                           \
  inline Words<words> ld_shared_v##words(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,         \
                                         const Words<words>& otherwise = {}) {                                   \
    return host::load_words<words>(host::Space::kShared, address, mask, otherwise);                              \
  }                                                                                                              \
  inline void st_shared_v##words(const Lanes<uint32_t>& address, const Words<words>& value,                      \
                                 const Lanes<bool>& mask = true) {                                               \
    host::store_words(host::Space::kShared, address, value, mask);                                               \
  }
MK_TWIN(2)
MK_TWIN(4)
#undef MK_TWIN

}  // namespace megakittens::ptx
