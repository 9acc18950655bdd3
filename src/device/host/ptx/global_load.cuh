// Twin of device/ptx/global_load.cuh. Without a mask every lane loads.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

inline uint8_t ld_global_u8(const void* address) {
  return host::load_one<uint8_t>(host::Space::kGlobal, host::address_of(address));
}
inline Lanes<uint8_t> ld_global_u8(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                                   const Lanes<uint8_t>& otherwise = {}) {
  return host::load_lanes<uint8_t>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}

inline uint16_t ld_global_u16(const void* address) {
  return host::load_one<uint16_t>(host::Space::kGlobal, host::address_of(address));
}
inline Lanes<uint16_t> ld_global_u16(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                                     const Lanes<uint16_t>& otherwise = {}) {
  return host::load_lanes<uint16_t>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}

inline uint32_t ld_global_u32(const void* address) {
  return host::load_one<uint32_t>(host::Space::kGlobal, host::address_of(address));
}
inline Lanes<uint32_t> ld_global_u32(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                                     const Lanes<uint32_t>& otherwise = {}) {
  return host::load_lanes<uint32_t>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}

inline uint64_t ld_global_u64(const void* address) {
  return host::load_one<uint64_t>(host::Space::kGlobal, host::address_of(address));
}
inline Lanes<uint64_t> ld_global_u64(const void* base, const Lanes<uint64_t>& offset, const Lanes<bool>& mask = true,
                                     const Lanes<uint64_t>& otherwise = {}) {
  return host::load_lanes<uint64_t>(host::Space::kGlobal, host::addresses(base, offset), mask, otherwise);
}

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
