// Twin of device/ptx/shared_memory.cuh. The scalar forms are for one lane, or for a warp whose lanes agree; without a
// mask every lane takes part.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

inline uint16_t ld_shared_u16(uint32_t address) {
  return host::load_one<uint16_t>(host::Space::kShared, address);
}
inline Lanes<uint16_t> ld_shared_u16(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,
                                     const Lanes<uint16_t>& otherwise = {}) {
  return host::load_lanes<uint16_t>(host::Space::kShared, address, mask, otherwise);
}
inline void st_shared_u16(uint32_t address, uint16_t value) {
  host::store_one(host::Space::kShared, address, value);
}
inline void st_shared_u16(const Lanes<uint32_t>& address, const Lanes<uint16_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kShared, address, value, mask);
}

inline uint32_t ld_shared_u32(uint32_t address) {
  return host::load_one<uint32_t>(host::Space::kShared, address);
}
inline Lanes<uint32_t> ld_shared_u32(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,
                                     const Lanes<uint32_t>& otherwise = {}) {
  return host::load_lanes<uint32_t>(host::Space::kShared, address, mask, otherwise);
}
inline void st_shared_u32(uint32_t address, uint32_t value) {
  host::store_one(host::Space::kShared, address, value);
}
inline void st_shared_u32(const Lanes<uint32_t>& address, const Lanes<uint32_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kShared, address, value, mask);
}

inline uint64_t ld_shared_u64(uint32_t address) {
  return host::load_one<uint64_t>(host::Space::kShared, address);
}
inline Lanes<uint64_t> ld_shared_u64(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,
                                     const Lanes<uint64_t>& otherwise = {}) {
  return host::load_lanes<uint64_t>(host::Space::kShared, address, mask, otherwise);
}
inline void st_shared_u64(uint32_t address, uint64_t value) {
  host::store_one(host::Space::kShared, address, value);
}
inline void st_shared_u64(const Lanes<uint32_t>& address, const Lanes<uint64_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kShared, address, value, mask);
}

inline Words<2> ld_shared_v2(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,
                             const Words<2>& otherwise = {}) {
  return host::load_words<2>(host::Space::kShared, address, mask, otherwise);
}
inline void st_shared_v2(const Lanes<uint32_t>& address, const Words<2>& value, const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kShared, address, value, mask);
}

inline Words<4> ld_shared_v4(const Lanes<uint32_t>& address, const Lanes<bool>& mask = true,
                             const Words<4>& otherwise = {}) {
  return host::load_words<4>(host::Space::kShared, address, mask, otherwise);
}
inline void st_shared_v4(const Lanes<uint32_t>& address, const Words<4>& value, const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kShared, address, value, mask);
}

}  // namespace megakittens::ptx
