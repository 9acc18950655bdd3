// A warp's tile from global into shared memory, in the input's order. Casts take it from there to another part of it.
#pragma once

#include "ops/permute/place.cuh"

namespace megakittens::ops::permute {

/// Vectors that a lane has in flight: with eight warps 24 KB. More leave the accumulators of products too few
/// registers.
inline constexpr uint32_t kHeld = 6;

/// Asks for the vectors from number `first` on.
MK_DEVICE void load_vectors(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t element_bytes,
                            uint32_t first, Words<4> (&held)[kHeld]) {
  const uint32_t of_vector = 16 / element_bytes;
  const Divisor per_run(box.record, kByInputVectors, operand.run / of_vector);
  const uint32_t inside = tile.run / of_vector;
  MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
    const Lanes<uint32_t> number = box.lane + (first + device::kWarpLanes * i);
    const Spot spot = operand.spot(per_run, number);
    const Lanes<bool> wanted = spot.at < inside && tile.row_inside(spot);
    held[i] = ptx::ld_global_v4(tile.base, operand.offset(spot, spot.at * 16u), wanted, Words<4>{});
  }
}

/// The same vectors, when they have come. Zeros stand for what lies outside the tensor.
MK_DEVICE void put_vectors(const Box& box, const OperandSide& operand, uint32_t element_bytes, uint32_t first,
                           const Words<4> (&held)[kHeld]) {
  const uint32_t bytes = operand.elements() * element_bytes;
  MK_UNROLL for (uint32_t i = 0; i < kHeld; ++i) {
    const Lanes<uint32_t> at = box.lane * 16u + 16 * (first + device::kWarpLanes * i);
    ptx::st_shared_v4(box.arrival(at), held[i], at < bytes);
  }
}

/// One element's bits, in the lanes of the mask.
MK_DEVICE Lanes<uint64_t> load_bits(uint32_t bytes, const void* base, Lanes<uint64_t> offset, Lanes<bool> mask) {
  if (bytes == 1) return device::convert<uint64_t>(ptx::ld_global_u8(base, offset, mask, uint8_t{0}));
  if (bytes == 2) return device::convert<uint64_t>(ptx::ld_global_u16(base, offset, mask, uint16_t{0}));
  if (bytes == 4) return device::convert<uint64_t>(ptx::ld_global_u32(base, offset, mask, 0u));
  return ptx::ld_global_u64(base, offset, mask, uint64_t{0});
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

/// Elements one by one, for what no vectors fit: several loads are on their way at once.
MK_DEVICE void copy_elements(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t bytes) {
  constexpr uint32_t kTogether = 4;
  const Divisor per_run(box.record, kByInputRun, operand.run);
  const uint32_t elements = operand.elements();
  MK_ROLLED for (uint32_t first = 0; first < elements; first += kTogether * device::kWarpLanes) {
    Lanes<uint64_t> bits[kTogether];
    MK_UNROLL for (uint32_t i = 0; i < kTogether; ++i) {
      const Lanes<uint32_t> number = box.lane + (first + device::kWarpLanes * i);
      const Spot spot = operand.spot(per_run, number);
      const Lanes<bool> wanted = spot.at < tile.run && tile.row_inside(spot);
      bits[i] = load_bits(bytes, tile.base, operand.offset(spot, spot.at * operand.run_step), wanted);
    }
    MK_UNROLL for (uint32_t i = 0; i < kTogether; ++i) {
      const Lanes<uint32_t> number = box.lane + (first + device::kWarpLanes * i);
      put_bits(bytes, box.arrival(number * bytes), bits[i], number < elements);
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
