// Brings parts of matrices with any strides into shared memory by ordinary loads, zeros outside. Consumer warps
// together.
#pragma once

#include "device/core/swizzle.cuh"
#include "device/vocabulary/arrivals.cuh"
#include "ops/gemm/arguments.hpp"
#include "ops/pointwise/place.cuh"

namespace megakittens::ops {

using device::Lanes;

/// A matrix seen as [rows, K]: A as it is, B transposed. What lies outside counts as zero.
struct StridedMatrix {
  char* base;
  int64_t row_bytes;
  int64_t depth_bytes;
  int32_t row_end;
  int32_t depth;
  uint32_t type;

  MK_DEVICE Lanes<uint64_t> offset(int32_t row, Lanes<int32_t> k) const {
    return device::convert<uint64_t>(device::convert<int64_t>(k) * depth_bytes + row_bytes * row);
  }
};

/// The instruction's operands A and B.
template <class B>
MK_DEVICE StridedMatrix matrix_a(const device::Context<B>& c) {
  const device::OperandWindow window = c.window(0);
  return {window.base,
          window.row_bytes,
          window.column_bytes,
          c.index(gemm::kRow) + c.index(gemm::kRows),
          c.index(gemm::kTileDepth),
          window.type};
}
template <class B>
MK_DEVICE StridedMatrix matrix_b(const device::Context<B>& c) {
  const device::OperandWindow window = c.window(1);
  return {window.base,
          window.column_bytes,
          window.row_bytes,
          c.index(gemm::kColumn) + c.index(gemm::kColumns),
          c.index(gemm::kTileDepth),
          window.type};
}

/// `tile_rows` rows of 64 16-bit elements from (row, k) on, as rows of 128 bytes with the 128-byte swizzle, at
/// `address`.
template <class B>
MK_DEVICE void stage_16bit(const device::Context<B>& c, const StridedMatrix& matrix, int32_t row, int32_t k,
                           uint32_t tile_rows, uint32_t address) {
  const Lanes<int32_t> depth = device::convert<int32_t>(device::lane_index() * 2) + k;
  MK_ROLLED for (uint32_t r = c.warp; r < tile_rows; r += device::kConsumerWarps) {
    const int32_t at = row + static_cast<int32_t>(r);
    const Lanes<bool> low = depth < (at < matrix.row_end ? matrix.depth : 0);
    const Lanes<bool> high = depth + 1 < (at < matrix.row_end ? matrix.depth : 0);
    const Lanes<uint32_t> first =
        device::convert<uint32_t>(ptx::ld_global_u16(matrix.base, matrix.offset(at, depth), low, uint16_t{0}));
    const Lanes<uint32_t> second =
        device::convert<uint32_t>(ptx::ld_global_u16(matrix.base, matrix.offset(at, depth + 1), high, uint16_t{0}));
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
    const Lanes<bool> inside = depth < (at < matrix.row_end ? matrix.depth : 0);
    const Lanes<float> value = load_value(matrix.type, matrix.base, matrix.offset(at, depth), inside);
    ptx::st_shared_u32(device::lane_index() * depth_bytes + (r * row_bytes + address),
                       device::bit_cast<uint32_t>(value));
  }
}

/// A consumer warp comes to the meeting of all of them; it waits for the others in await_consumers.
template <class B>
MK_DEVICE void meet_consumers(device::Context<B>& c) {
  device::speak_for_warp([&](uint32_t arrivals) {
    if (!c.aborted) ptx::mbarrier_arrive(c.base + device::Layout<B>::kMeeting, arrivals);
  });
}
template <class B>
MK_DEVICE void await_consumers(device::Context<B>& c) {
  wait_warp(c, c.base + device::Layout<B>::kMeeting, c.meetings++, device::WaitKind::consumers);
}
/// All consumer warps have come here, and see each other's ordinary accesses. Bounded, unlike a named barrier: where
/// one warp has given up and left, the others do so too.
template <class B>
MK_DEVICE void sync_consumers(device::Context<B>& c) {
  meet_consumers(c);
  await_consumers(c);
}

}  // namespace megakittens::ops
