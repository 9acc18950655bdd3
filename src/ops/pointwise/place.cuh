// Where the sixteen values of a chunk belong: each lane holds two runs of eight neighbouring columns. Operands that lie
// in global memory are read and written through here.
#pragma once

#include "device/vocabulary/context.cuh"
#include "ops/pointwise/values.cuh"

namespace megakittens::ops {

inline constexpr uint32_t kChunk = 16;
inline constexpr uint32_t kRuns = kChunk / kRun;

/// The lane's number, by a way that the compiler does not see through: else it computes what depends on it before the
/// interpreter's loop, and products lack the registers.
MK_DEVICE Lanes<uint32_t> hidden_lane() {
  return device::shuffle_index(device::lane_index(), device::lane_index());
}

/// The same value, by a way that the compiler does not see through: comparisons with it stay where they are written.
MK_DEVICE uint32_t hidden(uint32_t x) {
  Lanes<uint32_t> value[1] = {Lanes<uint32_t>(x)};
  ptx::keep_in_order(value);
  return device::lane_value<uint32_t>(value[0]);
}

/// Every type that runs byte code begins its index words so.
enum TileIndex { kTileOuter0, kTileOuter1, kTileRow, kTileColumn, kTileRows, kTileColumnCount };

/// A place says where the lane's runs lie in the record's space: row(g) and first column column(g) of run g, and the
/// first row and column outside the tile. Its functions read the slot again instead of holding registers, which beside
/// an accumulator tile are scarce.
template <class B>
struct TileBounds {
  const device::Context<B>& c;
  MK_DEVICE int32_t row_end() const { return c.index(kTileRow) + c.index(kTileRows); }
  MK_DEVICE int32_t column_end() const { return c.index(kTileColumn) + c.index(kTileColumnCount); }
};

/// All of run `g` lies inside the tile.
template <class Place>
MK_DEVICE Lanes<bool> whole_run(const Place& place, uint32_t g) {
  return place.row(g) < place.row_end() && place.column(g) + int32_t{kRun} <= place.column_end();
}

/// Every value moves down by one and `last` follows: a rolled loop over the chunk works on values[0].
MK_DEVICE void turn_chunk(Lanes<float> (&values)[kChunk], Lanes<float> last) {
  MK_UNROLL for (uint32_t i = 0; i + 1 < kChunk; ++i) values[i] = values[i + 1];
  values[kChunk - 1] = last;
}

struct GlobalRun {
  char* base;
  Lanes<uint64_t> offset;
  Lanes<bool> mask;

  MK_DEVICE Words<4> v4(uint32_t i) const {
    return ptx::ld_global_v4(base, offset + uint64_t{16 * i}, mask, Words<4>{});
  }
  MK_DEVICE void v4(uint32_t i, const Words<4>& words) const {
    ptx::st_global_v4(base, offset + uint64_t{16 * i}, words, mask);
  }
  MK_DEVICE void v2(const Words<2>& words) const { ptx::st_global_v2(base, offset, words, mask); }
};

/// An operand in global memory, resolved for one access.
struct GlobalOperand {
  char* base;  ///< of row and column 0
  int64_t row_bytes;
  int32_t column_bytes;
  uint32_t type;
  bool vector;  ///< eight neighbours are aligned vectors in every run

  MK_DEVICE explicit GlobalOperand(const device::OperandWindow& window) {
    base = window.base;
    row_bytes = window.row_bytes;
    column_bytes = window.column_bytes;
    type = window.type;
    // Runs begin at multiples of eight columns.
    vector = is_floating(type) && column_bytes == static_cast<int32_t>(element_size(type)) &&
             (device::bit_cast<uint64_t>(base) | static_cast<uint64_t>(row_bytes)) % 16 == 0;
  }

  MK_DEVICE Lanes<uint64_t> offset(Lanes<int32_t> row, Lanes<int32_t> column) const {
    return device::convert<uint64_t>(device::convert<int64_t>(row) * row_bytes +
                                     device::convert<int64_t>(column) * int64_t{column_bytes});
  }
  template <class Place>
  MK_DEVICE GlobalRun run(const Place& place, uint32_t g) const {
    return {base, offset(place.row(g), place.column(g)), whole_run(place, g)};
  }
  /// No lane of the warp has a value in its runs that does not move in a vector.
  template <class Place>
  MK_DEVICE bool moves_in_runs(const Place& place, uint32_t runs) const {
    if (!vector) return false;
    Lanes<bool> done = true;
    MK_UNROLL for (uint32_t g = 0; g < runs; ++g) {
      const Lanes<bool> outside = place.row(g) >= place.row_end() || place.column(g) >= place.column_end();
      done = done && (outside || whole_run(place, g));
    }
    return device::all(done);
  }

  /// Whole runs move as vectors. Where the tile's edge cuts a run, or the operand has no vectors, values follow one by
  /// one in a loop that turns the chunk round, so that each type's access is in the code once and not sixteen times.
  template <class Place>
  MK_DEVICE void load(const Place& place, Lanes<float> (&values)[kChunk]) const {
    if (vector)
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) read_floating_run(type, run(place, g), values + g * kRun);
    if (moves_in_runs(place, kRuns)) return;
    MK_ROLLED for (uint32_t n = 0; n < kChunk; ++n) {
      const Lanes<int32_t> row = place.row(n / kRun), column = place.column(n / kRun) + static_cast<int32_t>(n % kRun);
      const Lanes<bool> moved = whole_run(place, n / kRun) && vector;
      const Lanes<bool> wanted = !moved && row < place.row_end() && column < place.column_end();
      const Lanes<float> value = load_value(type, base, offset(row, column), wanted);
      turn_chunk(values, device::select(moved, values[0], value));
    }
  }

  /// `values` are the same afterwards.
  template <class Place>
  MK_DEVICE void store(const Place& place, Lanes<float> (&values)[kChunk]) const {
    if (vector)
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) write_floating_run(type, run(place, g), values + g * kRun);
    if (moves_in_runs(place, kRuns)) return;
    MK_ROLLED for (uint32_t n = 0; n < kChunk; ++n) {
      const Lanes<int32_t> row = place.row(n / kRun), column = place.column(n / kRun) + static_cast<int32_t>(n % kRun);
      const Lanes<bool> moved = whole_run(place, n / kRun) && vector;
      const Lanes<bool> wanted = !moved && row < place.row_end() && column < place.column_end();
      store_value(type, base, offset(row, column), values[0], wanted);
      turn_chunk(values, values[0]);
    }
  }
};

}  // namespace megakittens::ops
