// Where the sixteen values of a chunk belong: each lane holds two runs of eight neighbouring columns. Operands that lie
// in global memory are read and written through here.
#pragma once

#include "device/vocabulary/context.cuh"
#include "ops/pointwise/values.cuh"

namespace megakittens::ops {

inline constexpr uint32_t kChunk = 16;
inline constexpr uint32_t kRuns = kChunk / kRun;

/// Rows and first columns of the lane's runs in the record's space, and the first row and column outside the tile.
struct Place {
  int32_t outer0;
  int32_t outer1;
  int32_t row_end;
  int32_t column_end;
  Lanes<int32_t> row[kRuns];
  Lanes<int32_t> column[kRuns];
};

struct GlobalRun {
  char* base;
  Lanes<uint64_t> offset;
  Lanes<bool> mask;

  MK_DEVICE Words<4> v4(uint32_t i) const {
    return ptx::ld_global_v4(base, offset + uint64_t{16 * i}, mask, Words<4>{});
  }
  MK_DEVICE Words<2> v2() const { return ptx::ld_global_v2(base, offset, mask, Words<2>{}); }
  MK_DEVICE void v4(uint32_t i, const Words<4>& words) const {
    ptx::st_global_v4(base, offset + uint64_t{16 * i}, words, mask);
  }
  MK_DEVICE void v2(const Words<2>& words) const { ptx::st_global_v2(base, offset, words, mask); }
};

/// An operand in global memory, resolved for one instruction.
struct GlobalOperand {
  char* base;  ///< of (outer0, outer1, 0, 0)
  int64_t row_stride;
  int64_t column_stride;
  uint32_t type;
  bool vector;  ///< eight neighbours are one aligned vector in every run

  template <class B>
  MK_DEVICE GlobalOperand(const device::Context<B>& c, const program::OperandRecord& record, int32_t outer0,
                          int32_t outer1) {
    type = record.type;
    const int64_t size = element_size(type);
    const int64_t start = record.offset + record.strides[0] * outer0 + record.strides[1] * outer1;
    base = c.storage(record.storage) + start * size;
    row_stride = record.strides[2];
    column_stride = record.strides[3];
    // A run moves 8 bytes of bool and multiples of 16 of the others; runs begin at multiples of eight columns.
    const uint64_t unit = size == 1 ? 8 : 16;
    vector =
        column_stride == 1 && (device::bit_cast<uint64_t>(base) | static_cast<uint64_t>(row_stride * size)) % unit == 0;
  }

  MK_DEVICE Lanes<uint64_t> offset(Lanes<int32_t> row, Lanes<int32_t> column) const {
    const Lanes<int64_t> element =
        device::convert<int64_t>(row) * row_stride + device::convert<int64_t>(column) * column_stride;
    return device::convert<uint64_t>(element * int64_t{element_size(type)});
  }

  MK_DEVICE void load(const Place& place, Lanes<float> (&values)[kChunk]) const {
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) {
      Lanes<float>* run = values + g * kRun;
      const Lanes<bool> rows = place.row[g] < place.row_end;
      if (vector) {
        const Lanes<bool> full = rows && place.column[g] + int32_t{kRun} <= place.column_end;
        const GlobalRun reader{base, offset(place.row[g], place.column[g]), full};
        read_run(type, reader, run);
        if (device::all(full || !rows || place.column[g] >= place.column_end)) continue;
      }
      MK_UNROLL for (uint32_t i = 0; i < kRun; ++i) {
        const Lanes<int32_t> column = place.column[g] + static_cast<int32_t>(i);
        run[i] = load_value(type, base, offset(place.row[g], column), rows && column < place.column_end);
      }
    }
  }

  MK_DEVICE void store(const Place& place, const Lanes<float> (&values)[kChunk]) const {
    MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) {
      const Lanes<float>* run = values + g * kRun;
      const Lanes<bool> rows = place.row[g] < place.row_end;
      Lanes<bool> left = rows;
      if (vector) {
        const Lanes<bool> full = rows && place.column[g] + int32_t{kRun} <= place.column_end;
        const GlobalRun writer{base, offset(place.row[g], place.column[g]), full};
        write_run(type, writer, run);
        left = rows && !full;
        if (device::all(!left || place.column[g] >= place.column_end)) continue;
      }
      MK_UNROLL for (uint32_t i = 0; i < kRun; ++i) {
        const Lanes<int32_t> column = place.column[g] + static_cast<int32_t>(i);
        store_value(type, base, offset(place.row[g], column), run[i], left && column < place.column_end);
      }
    }
  }
};

}  // namespace megakittens::ops
