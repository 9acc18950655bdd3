// Converts between Lanes, which twins take, and arrays, which hooks take: addresses, masks, and packed data of a warp's
// access.
#pragma once

#include <cstring>

#include "device/core/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::device::host {

struct Addresses {
  std::uint64_t of[kLanes];

  Addresses() = default;
  Addresses(const Lanes<uint32_t>& shared) {  // NOLINT: shared addresses are used as they are
    for (std::uint32_t l = 0; l < kLanes; l++) of[l] = shared.v[l];
  }
};

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

inline Addresses addresses(const void* base, const Lanes<uint64_t>& offset) {
  Addresses result;
  for (std::uint32_t l = 0; l < kLanes; l++) result.of[l] = address_of(base) + offset.v[l];
  return result;
}

inline constexpr std::uint32_t kEveryLane = 0xffffffff;

template <class T>
T load_one(Space space, std::uint64_t address) {
  T value;
  load(space, &address, 1, sizeof(T), &value);
  return value;
}
template <class T>
void store_one(Space space, std::uint64_t address, T value) {
  store(space, &address, 1, sizeof(T), &value);
}

template <class T>
T load_strong_one(const T* pointer, Order order) {
  const std::uint64_t address = address_of(pointer);
  T value;
  load_strong(&address, 1, sizeof(T), &value, order);
  return value;
}
template <class T>
void store_strong_one(T* pointer, T value, Order order) {
  const std::uint64_t address = address_of(pointer);
  store_strong(&address, 1, sizeof(T), &value, order);
}
inline Lanes<uint64_t> load_strong_lanes(const Addresses& address, const Lanes<bool>& mask,
                                         const Lanes<uint64_t>& otherwise) {
  Lanes<uint64_t> value = otherwise;
  load_strong(address.of, ballot(mask), 8, value.v, Order::kRelaxed);
  return value;
}

template <class T>
Lanes<T> load_lanes(Space space, const Addresses& address, const Lanes<bool>& mask, const Lanes<T>& otherwise) {
  Lanes<T> value = otherwise;
  load(space, address.of, ballot(mask), sizeof(T), value.v);
  return value;
}
template <class T>
void store_lanes(Space space, const Addresses& address, const Lanes<T>& value, const Lanes<bool>& mask) {
  store(space, address.of, ballot(mask), sizeof(T), value.v);
}

// N words a lane lie together in memory but apart in registers.
template <int N>
void pack(const Words<N>& words, std::uint32_t (&packed)[kLanes * N]) {
  for (std::uint32_t l = 0; l < kLanes; l++) {
    for (int i = 0; i < N; i++) packed[l * N + i] = words.w[i].v[l];
  }
}
template <int N>
Words<N> unpack(const std::uint32_t (&packed)[kLanes * N]) {
  Words<N> words;
  for (std::uint32_t l = 0; l < kLanes; l++) {
    for (int i = 0; i < N; i++) words.w[i].v[l] = packed[l * N + i];
  }
  return words;
}

template <int N>
Words<N> load_words(Space space, const Addresses& address, const Lanes<bool>& mask, const Words<N>& otherwise) {
  std::uint32_t packed[kLanes * N];
  pack(otherwise, packed);
  load(space, address.of, ballot(mask), 4 * N, packed);
  return unpack<N>(packed);
}
template <int N>
Words<N> load_constant_words(const Addresses& address) {
  std::uint32_t packed[kLanes * N];
  load_constant(address.of, kEveryLane, 4 * N, packed);
  return unpack<N>(packed);
}
template <int N>
void store_words(Space space, const Addresses& address, const Words<N>& value, const Lanes<bool>& mask) {
  std::uint32_t packed[kLanes * N];
  pack(value, packed);
  store(space, address.of, ballot(mask), 4 * N, packed);
}

}  // namespace megakittens::device::host
