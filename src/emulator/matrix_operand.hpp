// A matrix operand in shared memory, found by the words of a matrix descriptor: both generations use the same layouts.
#pragma once

#include <cstdint>

#include "device/core/swizzle.cuh"
#include "device/host/hooks.hpp"
#include "emulator/async_access.hpp"

namespace megakittens::emulator {

float half_to_float(device::host::Half type, std::uint16_t bits);

struct MatrixOperand {
  std::uint32_t address;         // shared-window offset of the first element
  std::uint32_t leading_offset;  // bytes
  std::uint32_t stride_offset;
  device::Swizzle swizzle;
  bool k_major;  // K is contiguous; otherwise the rows' dimension (M or N) is
  device::host::Half type;

  /// Shared offset of the 16 bytes that hold eight elements: K-major, of row `row` and k 8 * part ..; otherwise of rows
  /// 8 * part .. and k `row`.
  std::uint32_t chunk(std::uint32_t row, std::uint32_t part) const {
    const std::uint32_t width = device::swizzle_row_bytes(swizzle);
    std::uint32_t offset = 0;
    if (swizzle == device::Swizzle::kNone) {  // core matrices of eight rows of 16 bytes
      const std::uint32_t group = (row / 8) * (k_major ? stride_offset : leading_offset);
      offset = group + row % 8 * 16 + part * (k_major ? leading_offset : stride_offset);
    } else if (k_major) {
      offset = row / 8 * stride_offset + row % 8 * width + part * 16;
    } else {
      const std::uint32_t parts = width / 16;
      offset = part / parts * leading_offset + row / 8 * stride_offset + row % 8 * width + part % parts * 16;
    }
    return device::swizzle_address(swizzle, address + offset);
  }
};

/// Reads sixteen k of `rows` rows as float into out[k * pitch + row], checked as a read by `access`. Elements out of
/// bounds become zero with a finding. With `compute` false only the checks happen.
void read_operand(Machine& machine, Cta& cta, const MatrixOperand& operand, std::uint32_t rows, float* out,
                  std::uint32_t pitch, const Access& access, const Warp& issuer, bool compute);

/// c[m][n] += sum over sixteen k, ascending, of a[k][m] * b[k][n]; every partial sum is a float. The products of 16-bit
/// elements are exact in float, so a fused multiply-add gives the same bits.
void multiply_add(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n);

}  // namespace megakittens::emulator
