// Elements that move one by one, on either side of a permutation.
#pragma once

#include "ops/permute/place.cuh"

namespace megakittens::ops::permute {

/// All elements of a tile, or with `ends` those at both ends of rows that share 16 aligned bytes with others' elements.
struct Elements {
  const OperandSide& operand;
  const TileSide& tile;
  Divisor per_run;
  uint32_t bytes;
  bool ends;
  uint32_t count;

  MK_DEVICE Elements(const Box& box, const OperandSide& side, const TileSide& its_tile, Derived word,
                     uint32_t element_bytes, bool only_ends)
      : operand(side), tile(its_tile), per_run(box.record, word, side.run), bytes(element_bytes), ends(only_ends) {
    // As many numbers for either end as elements have room in 16 bytes.
    if (ends) per_run = Divisor(32u >> log_of(bytes), reciprocal_of(32) * bytes);
    count = per_run.by * operand.rows.by * operand.rows_y;
  }
  /// Numbers that stand for no element lie far behind the row.
  MK_DEVICE Spot spot(Lanes<uint32_t> number) const {
    Spot spot = operand.spot(per_run, number);
    if (!ends) return spot;
    const uint32_t of_vector = 16u >> log_of(bytes);
    const Lanes<uint32_t> from_end = (tile.run - 1 + of_vector) - spot.at;
    const Lanes<uint32_t> last = device::select(from_end < of_vector, Lanes<uint32_t>(~0u), from_end);
    spot.at = device::select(spot.at < of_vector, spot.at, last);
    return spot;
  }
  MK_DEVICE Lanes<bool> wanted(const Spot& spot) const {
    const Lanes<bool> inside = spot.at < tile.run && tile.row_inside(spot);
    if (!ends) return inside;
    const Lanes<uint32_t> head = operand.head(tile, spot), at = spot.at * bytes;
    const Lanes<uint32_t> end = head + ((at - head) & ~15u) + 16u;
    return inside && (at < head || end > tile.run * bytes);
  }
};

/// What stands for the place of an element that is not wanted.
inline constexpr uint32_t kNowhere = ~0u;

/// The bits of some elements, which are on their way together.
template <uint32_t kCount>
MK_DEVICE void load_bits(uint32_t bytes, const void* base, const Lanes<uint32_t> (&offsets)[kCount],
                         Lanes<uint64_t> (&bits)[kCount]) {
  if (bytes == 8) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) bits[i] =
        ptx::ld_global_u64(base, device::convert<uint64_t>(offsets[i]), offsets[i] != kNowhere, uint64_t{0});
  } else if (bytes == 4) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) bits[i] = device::convert<uint64_t>(
        ptx::ld_global_u32(base, device::convert<uint64_t>(offsets[i]), offsets[i] != kNowhere, 0u));
  } else if (bytes == 2) {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) bits[i] = device::convert<uint64_t>(
        ptx::ld_global_u16(base, device::convert<uint64_t>(offsets[i]), offsets[i] != kNowhere, uint16_t{0}));
  } else {
    MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) bits[i] = device::convert<uint64_t>(
        ptx::ld_global_u8(base, device::convert<uint64_t>(offsets[i]), offsets[i] != kNowhere, uint8_t{0}));
  }
}
MK_DEVICE void put_bits(uint32_t bytes, Lanes<uint32_t> address, Lanes<uint64_t> bits, Lanes<bool> mask) {
  if (bytes == 1)
    ptx::st_shared_u8(address, device::convert<uint8_t>(bits & 0xffu), mask);
  else if (bytes == 2)
    ptx::st_shared_u16(address, device::convert<uint16_t>(bits & 0xffffu), mask);
  else if (bytes == 4)
    ptx::st_shared_u32(address, device::convert<uint32_t>(bits), mask);
  else
    ptx::st_shared_u64(address, bits, mask);
}

}  // namespace megakittens::ops::permute
