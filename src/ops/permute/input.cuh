// A warp's tile from global into shared memory, in the input's order. Casts take it from there to another part of it.
#pragma once

#include "ops/permute/elements.cuh"

namespace megakittens::ops::permute {

/// Vectors that a lane has in flight: with eight warps 16 KB. More leave the accumulators of products too few
/// registers.
inline constexpr uint32_t kHeld = 4;

/// Asks for the vectors from number `first` on.
MK_DEVICE void load_vectors(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t element_bytes,
                            uint32_t first, Words<4> (&held)[kHeld]) {
  const Divisor per_run(box.record, kByInputVectors, operand.run * element_bytes / 16);
  MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
    const Spot spot = operand.spot(per_run, box.lane + (first + device::kWarpLanes * i));
    const RowVector vector = operand.vector(tile, spot, element_bytes);
    held[i] = ptx::ld_global_v4(tile.base, operand.offset(spot, vector.at), vector.inside, Words<4>{});
  }
}

/// Zeros for what a tile that is cut short leaves unwritten; put_vectors does it where rows are aligned.
MK_DEVICE void clear_cut(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t element_bytes) {
  if (tile.run == operand.run && tile.x == operand.rows.by && tile.y == operand.rows_y) return;
  const uint32_t bytes = operand.elements() * element_bytes;
  MK_ROLLED for (uint32_t first = 0; first < bytes; first += 16 * device::kWarpLanes) {
    const Lanes<uint32_t> at = box.lane * 16u + first;
    ptx::st_shared_v4(box.arrival(at), Words<4>{}, at < bytes);
  }
  ptx::syncwarp();
}

/// The same vectors, when they have come. Zeros stand for what lies outside the tensor.
MK_DEVICE void put_vectors(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t element_bytes,
                           uint32_t first, const Words<4> (&held)[kHeld]) {
  if (operand.aligned(tile)) {
    const uint32_t bytes = operand.elements() * element_bytes;
    MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
      const Lanes<uint32_t> at = box.lane * 16u + 16 * (first + device::kWarpLanes * i);
      ptx::st_shared_v4(box.arrival(at), held[i], at < bytes);
    }
    return;
  }
  if (first == 0) clear_cut(box, operand, tile, element_bytes);
  // Rows lie aligned in shared memory, so vectors need not: three whole words, and two halves around or behind them.
  const Divisor per_run(box.record, kByInputVectors, operand.run * element_bytes / 16);
  Words<4> later[kHeld];  // turns, so that the loop stays a loop
  MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) later[i] = held[i];
  MK_ROLLED for (uint32_t i = 0; i < kHeld; ++i) {
    const Lanes<uint32_t> number = box.lane + (first + device::kWarpLanes * i);
    const Spot spot = operand.spot(per_run, number);
    const RowVector vector = operand.vector(tile, spot, element_bytes);
    const Lanes<uint32_t> at = number * 16u + (vector.at - spot.at * 16u);
    const Lanes<bool> odd = (at & 2u) != 0u;
    const Lanes<uint32_t> words = at + (at & 2u);
    const Words<4> w = later[0];
    MK_UNROLL for (uint32_t j = 0; j < 3; ++j) ptx::st_shared_u32(
        box.arrival(words + 4 * j), device::select(odd, w.w[j] >> 16 | w.w[j + 1] << 16, w.w[j]), vector.inside);
    ptx::st_shared_u16(box.arrival(device::select(odd, at, at + 12u)),
                       device::convert<uint16_t>(device::select(odd, w.w[0], w.w[3]) & 0xffffu), vector.inside);
    ptx::st_shared_u16(box.arrival(at + 14u), device::convert<uint16_t>(w.w[3] >> 16), vector.inside);
    MK_UNROLL for (uint32_t j = 0; j + 1 < kHeld; ++j) later[j] = later[j + 1];
  }
}

/// Elements one by one: all, or those at the ends of rows. Several loads are on their way at once.
MK_DEVICE void copy_elements(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t bytes,
                             bool ends) {
  constexpr uint32_t kTogether = 4;
  const Elements elements(box, operand, tile, kByInputRun, bytes, ends);
  MK_ROLLED for (uint32_t first = 0; first < elements.count; first += kTogether * device::kWarpLanes) {
    // Arrays turn, so that loops stay loops.
    Lanes<uint32_t> offsets[kTogether], places[kTogether];
    Lanes<uint64_t> bits[kTogether];
    MK_UNROLL for (uint32_t i = 0; i < kTogether; ++i) offsets[i] = places[i] = kNowhere;
    MK_ROLLED for (uint32_t i = 0; i < kTogether; ++i) {
      const Lanes<uint32_t> number = box.lane + (first + device::kWarpLanes * i);
      const Spot spot = elements.spot(number);
      const Lanes<bool> wanted = elements.wanted(spot), put = ends ? wanted : number < elements.count;
      MK_UNROLL for (uint32_t j = 0; j + 1 < kTogether; ++j) offsets[j] = offsets[j + 1], places[j] = places[j + 1];
      offsets[kTogether - 1] =
          device::select(wanted, operand.place(spot, spot.at * operand.run_step), Lanes<uint32_t>(kNowhere));
      const Lanes<uint32_t> row = spot.y * operand.rows.by + spot.x;
      places[kTogether - 1] =
          device::select(put, box.arrival((row * operand.run + spot.at) * bytes), Lanes<uint32_t>(kNowhere));
    }
    load_bits(bytes, tile.base, offsets, bits);
    MK_ROLLED for (uint32_t i = 0; i < kTogether; ++i) {
      put_bits(bytes, places[0], bits[0], places[0] != kNowhere);
      MK_UNROLL for (uint32_t j = 0; j + 1 < kTogether; ++j) bits[j] = bits[j + 1], places[j] = places[j + 1];
    }
  }
}

/// Eight neighbouring elements in shared memory, as read_run and write_run take them.
struct SharedSpan {
  Lanes<uint32_t> address;
  Lanes<bool> mask;
  MK_DEVICE Words<4> v4(uint32_t i) const { return ptx::ld_shared_v4(address + 16 * i); }
  MK_DEVICE Words<2> v2() const { return ptx::ld_shared_v2(address); }
  MK_DEVICE void v4(uint32_t i, const Words<4>& words) const { ptx::st_shared_v4(address + 16 * i, words, mask); }
  MK_DEVICE void v2(const Words<2>& words) const { ptx::st_shared_v2(address, words, mask); }
};

/// A tile that has come as one type becomes another.
MK_DEVICE void cast_tile(const Box& box, uint32_t elements, uint32_t from, uint32_t to) {
  MK_ROLLED for (uint32_t first = 0; first < elements; first += kRun * device::kWarpLanes) {
    const Lanes<uint32_t> number = box.lane * kRun + first;
    const Lanes<bool> inside = number < elements;
    const Lanes<uint32_t> element = device::select(inside, number, Lanes<uint32_t>(0u));
    Lanes<float> values[kRun];
    read_run(from, SharedSpan{box.arrival(element * element_size(from)), inside}, values);
    write_run(to, SharedSpan{box.address(element * element_size(to)), inside}, values);
  }
}

}  // namespace megakittens::ops::permute
