// Twin of device/ptx/global_store.cuh. Without a mask every lane stores.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

inline void st_global_u8(void* address, uint8_t value) {
  host::store_one(host::Space::kGlobal, host::address_of(address), value);
}
inline void st_global_u8(void* base, const Lanes<uint64_t>& offset, const Lanes<uint8_t>& value,
                         const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

inline void st_global_u16(void* address, uint16_t value) {
  host::store_one(host::Space::kGlobal, host::address_of(address), value);
}
inline void st_global_u16(void* base, const Lanes<uint64_t>& offset, const Lanes<uint16_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

inline void st_global_u32(void* address, uint32_t value) {
  host::store_one(host::Space::kGlobal, host::address_of(address), value);
}
inline void st_global_u32(void* base, const Lanes<uint64_t>& offset, const Lanes<uint32_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

inline void st_global_u64(void* address, uint64_t value) {
  host::store_one(host::Space::kGlobal, host::address_of(address), value);
}
inline void st_global_u64(void* base, const Lanes<uint64_t>& offset, const Lanes<uint64_t>& value,
                          const Lanes<bool>& mask = true) {
  host::store_lanes(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

inline void st_global_v2(void* base, const Lanes<uint64_t>& offset, const Words<2>& value,
                         const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}
inline void st_global_v4(void* base, const Lanes<uint64_t>& offset, const Words<4>& value,
                         const Lanes<bool>& mask = true) {
  host::store_words(host::Space::kGlobal, host::addresses(base, offset), value, mask);
}

}  // namespace megakittens::ptx
