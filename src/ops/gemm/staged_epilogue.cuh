// From Hopper's accumulators through a warp's staging and the record's byte code to global memory, 32 values in a lane
// at a time. A pass is sixteen rows of 64 columns. Sums are staged rounded to 16 bits where the code begins with that,
// else as fp32; a warp has 4 KB of the product's last page for it, and where its part of the tile needs more as much of
// the page before. Other operands come in the same order, whole lines at a time.
#pragma once

#include "device/core/swizzle.cuh"
#include "device/vocabulary/pages.cuh"
#include "ops/gemm/epilogue.cuh"
#include "ops/gemm/tile.hpp"

namespace megakittens::ops::staged {

using device::Context;

inline constexpr uint32_t kRows = 16, kColumns = 64, kValues = kRows * kColumns / device::kWarpLanes;
/// Values of a lane on which functions work at once: all 32 are 2 to 4 % faster here, and 50 KB of code.
inline constexpr uint32_t kAtOnce = 8;
inline constexpr uint32_t kWarpBytes = kRows * kColumns * 4;
static_assert(device::kConsumerWarps * kWarpBytes <= gemm::kPageBytes);

/// How the code begins, as far as put() does it.
struct Beginning {
  bool adds_row;  ///< to all rows a 16-bit row first: nn.Linear's bias
  uint32_t source;
  uint32_t type;  ///< to which sums are rounded then; fp32 where they are not
  uint32_t done;  ///< words that put() has run: a rounding alone is one

  template <class B>
  MK_DEVICE explicit Beginning(const Context<B>& c) {
    const CodeWord first = device::bit_cast<CodeWord>(c.code(0)), second = device::bit_cast<CodeWord>(c.code(1));
    adds_row = false;
    source = first.source;
    if (static_cast<CodeOp>(first.op) == CodeOp::add && first.source < program::kSourceTemporary) {
      const device::OperandWindow row = c.window(first.source);
      adds_row = row.row_bytes == 0 && row.column_bytes == 2 && is_half(row.type) && is_half(rounded_to(c, second));
    }
    const CodeWord rounding = adds_row ? second : first;
    type = rounded_to(c, rounding);
    done = (adds_row ? 1 : 0) + (static_cast<CodeOp>(rounding.op) == CodeOp::round && is_half(type) ? 1 : 0);
  }

 private:
  template <class B>
  static MK_DEVICE uint32_t rounded_to(const Context<B>& c, CodeWord word) {
    switch (static_cast<CodeOp>(word.op)) {
      case CodeOp::round:
      case CodeOp::round_add_round:
      case CodeOp::round_add_round_relu:
        return word.type;
      case CodeOp::store:
        return c.window(word.third).type;
      default:
        return static_cast<uint32_t>(ElementType::f32);
    }
  }
};

/// Where element (row, column) of a pass lies: rows of 128 bytes, swizzled.
struct Staging {
  static constexpr uint32_t kHalfBytes = kRows * kColumns * 2;  ///< of a pass of 16-bit values
  uint32_t base;

  static MK_DEVICE Lanes<uint32_t> at(Lanes<uint32_t> place) {
    return device::swizzle_address<device::Swizzle::k128B>(place);
  }
  MK_DEVICE Lanes<uint32_t> half(Lanes<uint32_t> row, Lanes<uint32_t> column) const {
    return at(row * 128 + column * 2 + base);
  }
  /// fp32, in two blocks of 32 columns. kOf: rows of a block, all or those of half a pass.
  template <uint32_t kOf = kRows>
  MK_DEVICE Lanes<uint32_t> whole(Lanes<uint32_t> row, Lanes<uint32_t> column) const {
    return at(row * 128 + (column & 31u) * 4 + (column >> 5) * (kOf * 128) + base);
  }
};

/// A lane's runs of a pass: eight columns, the same in every fourth row.
template <class B>
struct Place : TileBounds<B> {
  Lanes<uint32_t> lane;
  int32_t first_row;  ///< of the tile's
  int32_t first;      ///< of the tile's columns
  int32_t end;        ///< behind the warp's columns

  MK_DEVICE Lanes<uint32_t> row_in(uint32_t g) const { return (lane >> 3) + 4 * g; }
  MK_DEVICE Lanes<uint32_t> column_in() const { return (lane & 7u) * 8; }
  /// The same within what the warp has staged; lanes behind it read its beginning.
  MK_DEVICE Lanes<uint32_t> staged_column() const {
    return device::select(column_in() < static_cast<uint32_t>(end - first), column_in(), Lanes<uint32_t>(0u));
  }
  MK_DEVICE int32_t row_begin() const { return this->c.index(kTileRow) + first_row; }
  MK_DEVICE int32_t column_begin() const { return this->c.index(kTileColumn) + first; }
  MK_DEVICE Lanes<int32_t> row(uint32_t g) const { return device::convert<int32_t>(row_in(g)) + row_begin(); }
  MK_DEVICE Lanes<int32_t> column(uint32_t) const { return device::convert<int32_t>(column_in()) + column_begin(); }
  MK_DEVICE int32_t column_end() const {
    return this->c.index(kTileColumn) + device::min(this->c.index(kTileColumnCount), end);
  }
};

/// Eight neighbours in shared memory, where the second sixteen bytes do not lie behind the first.
struct StagedRun {
  Lanes<uint32_t> at[2];
  MK_DEVICE Words<4> v4(uint32_t i) const { return ptx::ld_shared_v4(at[i]); }
};

/// What run_code reads and writes through.
template <class B>
struct Port {
  static constexpr uint32_t kRuns = kValues / kRun, kHalf = kValues / 2, kHalfRows = kRows / 2;
  const Context<B>& c;
  Staging staging;
  Place<B> place;

  /// The lane's runs of what is staged, as fp32 or as a 16-bit `type`.
  MK_DEVICE void fetch(uint32_t type, Lanes<float> (&values)[kValues]) const {
    if (is_half(type)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) {
        const Lanes<uint32_t> at = staging.half(place.row_in(g), place.staged_column());
        read_floating_run(type, StagedRun{{at, at}}, values + g * kRun);
      }
    } else {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) fetch_whole<kRows>(g, values + g * kRun);
    }
  }

  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kValues]) const {
    const GlobalOperand operand(c.window(k));
    if (operand.moves_in_runs(place, kRuns)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
          read_floating_run(operand.type, operand.run(place, g), values + g * kRun);
      return;
    }
    MK_ROLLED for (uint32_t h = 0; h < 2; ++h) {
      each(operand, h, [&](Lanes<uint32_t> to, Lanes<uint64_t> from, Lanes<bool> inside) MK_INLINE {
        ptx::st_shared_u32(to, device::bit_cast<uint32_t>(load_value(operand.type, operand.base, from, inside)));
      });
      ptx::syncwarp();
      MK_UNROLL for (uint32_t i = 0; i < kHalf; ++i) values[i] = values[i + kHalf];
      MK_UNROLL for (uint32_t g = 0; g < kRuns / 2; ++g) fetch_whole<kHalfRows>(g, values + kHalf + g * kRun);
      ptx::syncwarp();
    }
  }

  /// `values` are the same afterwards.
  MK_DEVICE void store(uint32_t k, Lanes<float> (&values)[kValues]) const {
    const GlobalOperand operand(c.window(k));
    if (operand.moves_in_runs(place, kRuns)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
          write_floating_run(operand.type, operand.run(place, g), values + g * kRun);
      return;
    }
    MK_ROLLED for (uint32_t h = 0; h < 2; ++h) {
      MK_UNROLL for (uint32_t i = 0; i < kHalf; ++i)
          ptx::st_shared_u32(staging.whole<kHalfRows>(place.row_in(i / kRun), place.column_in() + i % kRun),
                             device::bit_cast<uint32_t>(values[i]));
      ptx::syncwarp();
      each(operand, h, [&](Lanes<uint32_t> from, Lanes<uint64_t> to, Lanes<bool> inside) MK_INLINE {
        store_value(operand.type, operand.base, to, device::bit_cast<float>(ptx::ld_shared_u32(from)), inside);
      });
      ptx::syncwarp();
      turn_chunk<kHalf>(values);
    }
  }

 private:
  template <uint32_t kOf>
  MK_DEVICE void fetch_whole(uint32_t g, Lanes<float>* values) const {
    const Lanes<uint32_t> row = place.row_in(g), column = place.staged_column();
    read_floating_run(static_cast<uint32_t>(ElementType::f32),
                      StagedRun{{staging.whole<kOf>(row, column), staging.whole<kOf>(row, column + 4u)}}, values);
  }

  /// Half a pass of an operand that does not move in runs, an element a lane and turn, along its shorter stride: where
  /// it lies in the staging and in memory, and whether it exists.
  template <class F>
  MK_DEVICE void each(const GlobalOperand& operand, uint32_t h, F&& f) const {
    const bool turned = operand.row_bytes != 0 && absolute(operand.row_bytes) < absolute(operand.column_bytes);
    MK_ROLLED for (uint32_t turn = 0; turn < kHalf; ++turn) {
      const Lanes<uint32_t> e = place.lane + turn * device::kWarpLanes;
      const Lanes<uint32_t> row = turned ? e % kHalfRows : e / kColumns, column = turned ? e / kHalfRows : e % kColumns;
      const Lanes<int32_t> at_row =
          device::convert<int32_t>(row) + (place.row_begin() + static_cast<int32_t>(h * kHalfRows));
      const Lanes<int32_t> at_column = device::convert<int32_t>(column) + place.column_begin();
      f(staging.whole<kHalfRows>(row, column), operand.offset(at_row, at_column),
        at_row < place.row_end() && at_column < place.column_end());
    }
  }
  static MK_DEVICE int64_t absolute(int64_t x) { return x < 0 ? -x : x; }
};

/// Where a warp's part of the staging begins: of the last page, and of the page before. What lies in that has to be
/// read by its own warpgroup alone: with tiles that stage there, a stage's A, of 128 rows.
template <class B>
MK_DEVICE Staging area(const Context<B>& c, uint32_t number) {
  if (number == 0) return {c.page_address(gemm::kSumsPage) + c.warp * kWarpBytes};
  const uint32_t warp = c.warp % 4, group = c.warp / 4;
  return {c.page_address(gemm::kSumsPage - 1) + (warp / 2 * 4 + group * 2 + warp % 2) * kWarpBytes};
}
/// Passes in an area.
MK_DEVICE uint32_t passes_in_area(uint32_t type) {
  return is_half(type) ? 2 : 1;
}
template <class B>
MK_DEVICE Staging staging_of(const Context<B>& c, uint32_t type, uint32_t pass) {
  const uint32_t passes = passes_in_area(type);
  return {area(c, pass / passes).base + pass % passes * Staging::kHalfBytes};
}

/// Adds the row to the sums of columns from `column` on.
template <uint32_t kCount, class B>
MK_DEVICE void add_row(const Context<B>& c, uint32_t source, int32_t column, Lanes<float> (&sums)[kCount]) {
  const GlobalOperand operand(c.window(source));
  const bool bf16 = operand.type == static_cast<uint32_t>(ElementType::bf16);
  const int32_t end = c.index(kTileColumn) + c.index(kTileColumnCount);
  const Lanes<int32_t> first =
      device::convert<int32_t>((device::lane_index() & 3u) * 2) + (c.index(kTileColumn) + column);
  const Lanes<uint64_t> begin = operand.offset(0, first);
  MK_UNROLL for (uint32_t b = 0; b < kCount / 4; ++b) {
    MK_UNROLL for (uint32_t j = 0; j < 2; ++j) {
      const uint32_t ahead = 8 * b + j;
      const Lanes<uint32_t> bits = device::convert<uint32_t>(ptx::ld_global_u16(
          operand.base, begin + uint64_t{2 * ahead}, first < end - static_cast<int32_t>(ahead), uint16_t{0}));
      const Lanes<float> value = bf16 ? device::bf16_low(bits) : device::f16_low(bits);
      MK_UNROLL for (uint32_t h = 0; h < 2; ++h) sums[4 * b + 2 * h + j] = sums[4 * b + 2 * h + j] + value;
    }
  }
}

/// Begins the code on the warp's sums, of columns from `column` on, and puts them into its staging: kAreas areas at
/// most.
template <uint32_t kAreas, uint32_t kCount, class B>
MK_DEVICE void put(Context<B>& c, int32_t column_of_tile, Lanes<float> (&sums)[kCount]) {
  const Beginning beginning(c);
  const uint32_t type = beginning.type;
  wait_page_warp(c, gemm::kSumsPage);
  if constexpr (kAreas > 1) wait_page_warp(c, gemm::kSumsPage - 1);
  if (c.aborted) return;
  if (beginning.adds_row) add_row(c, beginning.source, column_of_tile, sums);
  const Lanes<uint32_t> lane = hidden_lane(), row = lane >> 2, column = (lane & 3u) * 2;
  ptx::syncwarp();  // sums that warpgroups exchanged lay there, and have been read
  // From a lane's first place the others are an exclusive or of the sixteen bytes' number and a distance away.
  if (is_half(type)) {
    const bool bf16 = type == static_cast<uint32_t>(ElementType::bf16);
    MK_UNROLL for (uint32_t n = 0; n < (kCount + 31) / 32; ++n) {
      const Lanes<uint32_t> first = staging_of(c, type, n).half(row, column);
      MK_UNROLL for (uint32_t i = 0; i < 16 && 32 * n + 2 * i < kCount; ++i) {
        const Lanes<float>* two = sums + 32 * n + 2 * i;
        ptx::st_shared_u32((first ^ (i / 2 * 16)) + i % 2 * (8 * gemm::kBlockRowBytes),
                           bf16 ? device::pack_bf16x2(two[0], two[1]) : device::pack_f16x2(two[0], two[1]));
      }
    }
  } else if constexpr (kCount <= kAreas * kValues) {
    MK_UNROLL for (uint32_t n = 0; n < (kCount + 31) / 32; ++n) {
      const Lanes<uint32_t> first = staging_of(c, type, n).whole(row, column);
      MK_UNROLL for (uint32_t i = 0; i < 32 && 32 * n + i < kCount; ++i) {
        const uint32_t block = i / 16, across = i % 16 / 4, down = i / 2 % 2;
        ptx::st_shared_u32((first ^ (across * 32)) + (block * kRows + down * 8) * gemm::kBlockRowBytes + i % 2 * 4,
                           device::bit_cast<uint32_t>(sums[32 * n + i]));
      }
    }
  }
  ptx::syncwarp();
}

/// Runs the rest of the record's code on the sums that the warp has put into its staging, and stores the result.
template <class B>
MK_DEVICE void store(Context<B>& c, const TilePart& part) {
  const Beginning beginning(c);
  const uint32_t type = beginning.type;
  wait_writable_warp(c);
  const int32_t columns = device::min(part.columns, c.index(gemm::kColumns) - part.column);
  if (c.aborted || static_cast<int32_t>(part.row) >= c.index(gemm::kRows)) return;
  MK_ROLLED for (int32_t n = 0; n < columns; n += static_cast<int32_t>(kColumns)) {
    Port<B> port{c,
                 staging_of(c, type, static_cast<uint32_t>(n) / kColumns),
                 {{c}, hidden_lane(), static_cast<int32_t>(part.row), part.column + n, part.column + part.columns}};
    Lanes<float> acc[kValues];
    port.fetch(type, acc);
    ptx::syncwarp();
    run_code<program::kGemmTemporaries, kAtOnce>(c, acc, port, beginning.done);
  }
}

}  // namespace megakittens::ops::staged
