// Lanes on the GPU: the hardware has the lanes already.
#pragma once

#include "device/core/types.cuh"

namespace megakittens::device {

template <class T>
using Lanes = T;

/// Lane by lane: mask ? a : b.
template <class T>
MK_DEVICE T select(bool mask, T a, T b) {
  return mask ? a : b;
}

/// The bits of `from` read as another type of the same size.
template <class To, class From>
MK_DEVICE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// static_cast in every lane.
template <class To, class From>
MK_DEVICE To convert(From from) {
  return static_cast<To>(from);
}

/// table[index] in every lane, of a table that no other lane's stores reach: launch parameters.
template <class T>
MK_DEVICE T look_up(const T* table, uint32_t index) {
  return table[index];
}

}  // namespace megakittens::device
