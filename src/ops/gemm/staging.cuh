// Brings parts of matrices with any strides into shared memory by ordinary loads, zeros outside. Consumer warps
// together.
#pragma once

#include "device/core/swizzle.cuh"
#include "ops/pointwise/place.cuh"

namespace megakittens::ops {

using device::Lanes;

/// A matrix seen as [rows, K]: A as it is, B transposed. Strides in elements.
struct StridedMatrix {
  char* base;
  int64_t row_stride;
  int64_t depth_stride;
  uint32_t type;
  int32_t rows;
  int32_t depth;

  /// `row_dimension` and `depth_dimension`: which of the record's dimensions 2 and 3 play these parts.
  template <class B>
  MK_DEVICE StridedMatrix(const device::Context<B>& c, const program::OperandRecord& record, int32_t outer0,
                          int32_t outer1, uint32_t row_dimension, uint32_t depth_dimension) {
    const int64_t start = record.offset + record.strides[0] * outer0 + record.strides[1] * outer1;
    base = c.storage(record.storage) + start * element_size(record.type);
    type = record.type;
    row_stride = record.strides[row_dimension];
    depth_stride = record.strides[depth_dimension];
    rows = record.sizes[row_dimension];
    depth = record.sizes[depth_dimension];
  }
  MK_DEVICE Lanes<uint64_t> offset(int32_t row, Lanes<int32_t> k, int64_t size) const {
    return device::convert<uint64_t>((device::convert<int64_t>(k) * depth_stride + row_stride * row) * size);
  }
};

/// `tile_rows` rows of 64 16-bit elements from (row, k) on, as rows of 128 bytes with the 128-byte swizzle, at
/// `address`.
template <class B>
MK_DEVICE void stage_16bit(const device::Context<B>& c, const StridedMatrix& matrix, int32_t row, int32_t k,
                           uint32_t tile_rows, uint32_t address) {
  const Lanes<int32_t> depth = device::convert<int32_t>(device::lane_index() * 2) + k;
  MK_ROLLED for (uint32_t r = c.warp; r < tile_rows; r += device::kConsumerWarps) {
    const int32_t at = row + static_cast<int32_t>(r);
    const Lanes<bool> low = depth < (at < matrix.rows ? matrix.depth : 0);
    const Lanes<bool> high = depth + 1 < (at < matrix.rows ? matrix.depth : 0);
    const Lanes<uint32_t> first =
        device::convert<uint32_t>(ptx::ld_global_u16(matrix.base, matrix.offset(at, depth, 2), low, uint16_t{0}));
    const Lanes<uint32_t> second =
        device::convert<uint32_t>(ptx::ld_global_u16(matrix.base, matrix.offset(at, depth + 1, 2), high, uint16_t{0}));
    const Lanes<uint32_t> place = device::lane_index() * 4 + (r * 128 + address);
    ptx::st_shared_u32(device::swizzle_address<device::Swizzle::k128B>(place), first | second << 16);
  }
}

/// `tile_rows` rows of 32 values, made float, from (row, k) on. Element (r, j) lies at r * row_bytes + j * depth_bytes.
template <class B>
MK_DEVICE void stage_float(const device::Context<B>& c, const StridedMatrix& matrix, int32_t row, int32_t k,
                           uint32_t tile_rows, uint32_t address, uint32_t row_bytes, uint32_t depth_bytes) {
  const Lanes<int32_t> depth = device::convert<int32_t>(device::lane_index()) + k;
  MK_ROLLED for (uint32_t r = c.warp; r < tile_rows; r += device::kConsumerWarps) {
    const int32_t at = row + static_cast<int32_t>(r);
    const Lanes<bool> inside = depth < (at < matrix.rows ? matrix.depth : 0);
    const Lanes<float> value =
        load_value(matrix.type, matrix.base, matrix.offset(at, depth, element_size(matrix.type)), inside);
    ptx::st_shared_u32(device::lane_index() * depth_bytes + (r * row_bytes + address),
                       device::bit_cast<uint32_t>(value));
  }
}

/// Named barrier of all consumer warps.
inline constexpr uint32_t kConsumerBarrier = 1;
MK_DEVICE void sync_consumers() {
  ptx::bar_sync(kConsumerBarrier, device::kConsumerWarps * device::kWarpLanes);
}

}  // namespace megakittens::ops
