// Where a permutation's tiles lie: in the input, in the output, and in shared memory.
#pragma once

#include "ops/permute/arguments.hpp"
#include "ops/pointwise/place.cuh"

namespace megakittens::ops::permute {

inline constexpr uint32_t kRank = program::kMaxTileRank;

/// See reciprocal_of.
struct Divisor {
  uint32_t by;
  uint32_t reciprocal;

  MK_DEVICE Divisor(const program::NodeRecord* record, Derived word, uint32_t divisor)
      : by(divisor), reciprocal(device::constant(&record->reserved[word])) {}
  MK_DEVICE Divisor(uint32_t divisor, uint32_t its_reciprocal) : by(divisor), reciprocal(its_reciprocal) {}
  MK_DEVICE Lanes<uint32_t> quotient(Lanes<uint32_t> x) const {
    return device::convert<uint32_t>(device::convert<uint64_t>(x) * uint64_t{reciprocal} >> 31);
  }
};

/// Of an element's bytes, 1 to 8. No division by them: the device has none.
MK_DEVICE uint32_t log_of(uint32_t bytes) {
  return (bytes >> 1) - (bytes >> 3);
}

/// A place in a tile: `at` inside the run, then the row dimensions.
struct Spot {
  Lanes<uint32_t> at, x, y;
};
/// Place `number`, where runs and x have so many.
MK_DEVICE Spot place_in(const Divisor& run, const Divisor& rows, Lanes<uint32_t> number) {
  const Lanes<uint32_t> row = run.quotient(number), y = rows.quotient(row);
  return {number - row * run.by, row - y * rows.by, y};
}

/// What all tiles of the instruction share, as far as it is used so often that registers should hold it.
struct Box {
  const program::NodeRecord* record;
  Lanes<uint32_t> lane;
  uint32_t shared;  ///< where this warp's tile lies
  uint32_t arrival_pad, arrival_base;
  Gather gather;

  template <class B>
  MK_DEVICE Box(const device::Context<B>& c, uint32_t warp) : record(c.launch.records + c.word(program::kWordNode)) {
    lane = hidden_lane();
    shared = c.page_address(warp / kTilesOfPage) + warp % kTilesOfPage * kTilePitch;
    gather = gather_of(static_cast<uint32_t>(device::constant(&record->parameters[kGather])));
    const bool cast = ((c.operand_word(0) ^ c.operand_word(1)) & 0xff) != 0;
    arrival_pad = cast ? 31 : gather.pad;
    arrival_base = shared + (cast ? kTilePitch / 2 : 0);
  }
  /// A tile's extent, and the bytes between neighbours in shared memory. kNone has one element.
  MK_DEVICE uint32_t extent(uint32_t d) const { return half(kTileOuter, d); }
  MK_DEVICE uint32_t stride(uint32_t d) const { return d == kNone ? 0 : half(kStridesOuter, d); }
  /// Where byte `offset` of the tile arrives.
  MK_DEVICE Lanes<uint32_t> arrival(Lanes<uint32_t> offset) const {
    return offset + (offset >> arrival_pad << 4) + arrival_base;
  }
  /// Where it leaves from, padding aside.
  MK_DEVICE Lanes<uint32_t> address(Lanes<uint32_t> offset) const {
    return offset + (offset >> gather.pad << 4) + shared;
  }

 private:
  MK_DEVICE uint32_t half(uint32_t parameter, uint32_t d) const {
    return static_cast<uint32_t>(device::constant(&record->parameters[parameter + d / 2])) >> (16 * (d % 2)) & 0xffff;
  }
};

/// Elements of one tile that lie inside the box.
struct TileSide {
  char* base;
  uint32_t run;  ///< of a run
  uint32_t x, y;

  MK_DEVICE Lanes<bool> row_inside(const Spot& spot) const { return spot.x < x && spot.y < y; }
};

/// 16 aligned bytes of a row: where they begin in it, and whether all of them are the tile's.
struct RowVector {
  Lanes<uint32_t> at;
  Lanes<bool> inside;
};

/// One operand, as the instruction's tiles see it. Bytes inside a tile count in 32 bits.
struct OperandSide {
  uint32_t operand;
  uint32_t type;
  uint32_t run;  ///< elements of a run
  Divisor rows;  ///< by the tile's extent in x
  uint32_t rows_y;
  uint32_t run_step, x_step, y_step;  ///< bytes

  template <class B>
  MK_DEVICE OperandSide(const device::Context<B>& c, uint32_t k, const Box& box)
      : operand(k),
        type(c.operand_word(k) & 0xff),
        run(device::constant(&box.record->reserved[k == 0 ? kInputRuns : kOutputRuns]) & 0xffff),
        rows(box.record, k == 0 ? kByInputX : kByOutputX,
             device::constant(&box.record->reserved[k == 0 ? kInputRows : kOutputRows]) & 0xffff) {
    rows_y = device::constant(&box.record->reserved[k == 0 ? kInputRows : kOutputRows]) >> 16;
    const Side place = side(box);
    auto step_of = [&](uint32_t d) {
      return d == kNone
                 ? 0u
                 : static_cast<uint32_t>(device::constant(&box.record->operands[k].strides[d])) * element_size(type);
    };
    run_step = step_of(place.order & 15);
    x_step = step_of(place.x);
    y_step = step_of(place.y);
  }
  MK_DEVICE Side side(const Box& box) const {
    return side_of(
        static_cast<uint32_t>(device::constant(&box.record->parameters[operand == 0 ? kInputSide : kOutputSide])));
  }
  MK_DEVICE uint32_t elements() const { return run * rows.by * rows_y; }

  /// All rows begin at multiples of 16 bytes.
  MK_DEVICE bool aligned(const TileSide& tile) const {
    return ((static_cast<uint32_t>(device::bit_cast<uint64_t>(tile.base)) | x_step | y_step) & 15) == 0;
  }
  /// No row begins or ends inside 16 aligned bytes.
  MK_DEVICE bool whole(const TileSide& tile, uint32_t element_bytes) const {
    return aligned(tile) && (tile.run * element_bytes & 15) == 0;
  }
  /// Bytes of the spot's row before its first 16 aligned ones.
  MK_DEVICE Lanes<uint32_t> head(const TileSide& tile, const Spot& spot) const {
    const uint32_t base = static_cast<uint32_t>(device::bit_cast<uint64_t>(tile.base));
    return (0u - (spot.x * x_step + spot.y * y_step + base)) & 15u;
  }
  /// Vector spot.at of the spot's row. What lies before, between rows and behind moves by elements.
  MK_DEVICE RowVector vector(const TileSide& tile, const Spot& spot, uint32_t element_bytes) const {
    const Lanes<uint32_t> at = spot.at * 16u + head(tile, spot);
    return {at, at + 16u <= tile.run * element_bytes && tile.row_inside(spot)};
  }
  MK_DEVICE Spot spot(const Divisor& per_run, Lanes<uint32_t> number) const { return place_in(per_run, rows, number); }
  /// Bytes from the tile's base to the spot, whose place in the run lies at `in_run` bytes.
  MK_DEVICE Lanes<uint32_t> place(const Spot& spot, Lanes<uint32_t> in_run) const {
    return in_run + spot.x * x_step + spot.y * y_step;
  }
  MK_DEVICE Lanes<uint64_t> offset(const Spot& spot, Lanes<uint32_t> in_run) const {
    return device::convert<uint64_t>(place(spot, in_run));
  }
};

/// How tile `number` of the box lies in the input and in the output. One rolled loop: this is most of what a tile costs
/// in code.
template <class B>
MK_DEVICE void place_tile(const device::Context<B>& c, const Box& box, uint32_t number, TileSide& input,
                          TileSide& output) {
  Side places[2];
  TileSide sides[2];
  int64_t sizes[2];
  MK_UNROLL for (uint32_t k = 0; k < 2; ++k) {
    places[k] = side_of(static_cast<uint32_t>(device::constant(&box.record->parameters[kInputSide + k])));
    const uint32_t dims = device::constant(&box.record->reserved[k == 0 ? kInputRuns : kOutputRuns]) >> 16;
    sides[k] = {c.window(k).base, dims, 1, 1};
    sizes[k] = element_size(c.operand_word(k) & 0xff);
    places[k].order = places[k].order >> (4 * (places[k].run - 1)) & 15;  // the run's outermost dimension
  }
  MK_ROLLED for (uint32_t d = kRank; d-- > 0;) {
    const uint32_t grid = static_cast<uint32_t>(c.index(kGrid + d)), extent = box.extent(d), rest = number / grid;
    const uint32_t first = (number - rest * grid) * extent;
    const uint32_t inside = device::min(extent, static_cast<uint32_t>(c.index(kExtent + d)) - first);
    // A window begins at the instruction's place in the first two dimensions.
    const uint32_t from = first + (d < 2 ? 0u : static_cast<uint32_t>(c.index(kOrigin + d)));
    MK_UNROLL for (uint32_t k = 0; k < 2; ++k) {
      sides[k].base += int64_t{from} * (device::constant(&box.record->operands[k].strides[d]) * sizes[k]);
      if (places[k].order == d) sides[k].run *= inside;
      if (places[k].x == d) sides[k].x = inside;
      if (places[k].y == d) sides[k].y = inside;
    }
    number = rest;
  }
  input = sides[0];
  output = sides[1];
}

}  // namespace megakittens::ops::permute
