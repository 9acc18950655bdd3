// Twin of device/ptx/matrix.cuh: tiles move as 32 rows of 16 bytes, then between rows and fragments.
#pragma once

#include "device/host/lane_access.hpp"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;
namespace host = device::host;

namespace detail {

/// Row r of tile t, eight elements, as lane 8 * t + r addresses it.
struct MatrixRows {
  uint16_t element[32][8];
};

// The element of tile t that lane l holds in half h of register t.
struct Cell {
  uint32_t row, column;
};
constexpr Cell fragment_cell(uint32_t lane, uint32_t half, bool transposed) {
  const uint32_t row = lane / 4, column = 2 * (lane % 4) + half;
  return transposed ? Cell{column, row} : Cell{row, column};
}

inline Words<4> load_matrix(const Lanes<uint32_t>& address, bool transposed) {
  host::require_whole_warp("ldmatrix");
  MatrixRows rows;
  host::load(host::Space::kShared, host::Addresses(address).of, host::kEveryLane, 16, rows.element);
  Words<4> value;
  for (uint32_t t = 0; t < 4; t++) {
    for (uint32_t l = 0; l < 32; l++) {
      const Cell low = fragment_cell(l, 0, transposed), high = fragment_cell(l, 1, transposed);
      value.w[t].v[l] =
          rows.element[8 * t + low.row][low.column] | uint32_t{rows.element[8 * t + high.row][high.column]} << 16;
    }
  }
  return value;
}

inline void store_matrix(const Lanes<uint32_t>& address, const Words<4>& value, bool transposed) {
  host::require_whole_warp("stmatrix");
  MatrixRows rows;
  for (uint32_t t = 0; t < 4; t++) {
    for (uint32_t l = 0; l < 32; l++) {
      const Cell low = fragment_cell(l, 0, transposed), high = fragment_cell(l, 1, transposed);
      rows.element[8 * t + low.row][low.column] = static_cast<uint16_t>(value.w[t].v[l]);
      rows.element[8 * t + high.row][high.column] = static_cast<uint16_t>(value.w[t].v[l] >> 16);
    }
  }
  host::store(host::Space::kShared, host::Addresses(address).of, host::kEveryLane, 16, rows.element);
}

}  // namespace detail

inline Words<4> ldmatrix_x4(const Lanes<uint32_t>& address) {
  return detail::load_matrix(address, false);
}
inline Words<4> ldmatrix_x4_trans(const Lanes<uint32_t>& address) {
  return detail::load_matrix(address, true);
}
inline void stmatrix_x4(const Lanes<uint32_t>& address, const Words<4>& value) {
  detail::store_matrix(address, value, false);
}
inline void stmatrix_x4_trans(const Lanes<uint32_t>& address, const Words<4>& value) {
  detail::store_matrix(address, value, true);
}

}  // namespace megakittens::ptx
