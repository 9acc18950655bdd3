// A warp's tile from shared into global memory, in the output's order.
#pragma once

#include "ops/permute/place.cuh"

namespace megakittens::ops::permute {

/// Where the output's runs lie in shared memory. Their dimensions are the record's last ones.
struct RunReader {
  Divisor last, before;  ///< elements of the record's last dimensions
  uint32_t last_stride, before_stride, outer_stride;
  uint32_t x_stride, y_stride;

  MK_DEVICE RunReader(const Box& box, const OperandSide& operand)
      : last(box.record, kByLast, box.extent(3)), before(box.record, kByBefore, box.extent(2)) {
    last_stride = box.stride(3);
    before_stride = box.stride(2);
    outer_stride = box.stride(1);
    const Side side = operand.side(box);
    x_stride = box.stride(side.x);
    y_stride = box.stride(side.y);
  }
  MK_DEVICE Lanes<uint32_t> row(const Spot& spot) const { return spot.x * x_stride + spot.y * y_stride; }
};

/// Goes through a run, `step` elements at a time, which lie inside the record's last dimension.
struct RunWalk {
  const RunReader& reader;
  uint32_t step;
  Lanes<uint32_t> offset;  ///< in shared memory, from the row on
  Lanes<uint32_t> last, before;

  MK_DEVICE RunWalk(const RunReader& of, uint32_t elements, Lanes<uint32_t> at) : reader(of), step(elements) {
    const Lanes<uint32_t> outer = of.last.quotient(at), outermost = of.before.quotient(outer);
    last = at - outer * of.last.by;
    before = outer - outermost * of.before.by;
    offset = last * of.last_stride + before * of.before_stride + outermost * of.outer_stride;
  }
  MK_DEVICE void advance() {
    last = last + step;
    const Lanes<bool> carry = last == reader.last.by;
    last = device::select(carry, Lanes<uint32_t>(0u), last);
    before = before + device::select(carry, Lanes<uint32_t>(1u), Lanes<uint32_t>(0u));
    const Lanes<bool> carry_again = before == reader.before.by;
    before = device::select(carry_again, Lanes<uint32_t>(0u), before);
    // Differences count modulo 2^32.
    const uint32_t to_before = reader.before_stride - reader.last.by * reader.last_stride;
    const uint32_t to_outer = reader.outer_stride - reader.before.by * reader.before_stride;
    offset = offset + step * reader.last_stride +
             device::select(carry, Lanes<uint32_t>(to_before), Lanes<uint32_t>(0u)) +
             device::select(carry_again, Lanes<uint32_t>(to_outer), Lanes<uint32_t>(0u));
  }
};

/// Linear runs: lanes read words and store 16 bytes of a run. Where units are halves of words, a word holds neighbours
/// of two rows, and lanes store 16 bytes of either.
template <uint32_t kRows>
MK_DEVICE void store_wide(const Box& box, const OperandSide& operand, const TileSide& tile, uint32_t element_bytes) {
  constexpr uint32_t kWords = 4 * kRows;
  const uint32_t vectors = (operand.run * element_bytes + 15) / 16, inside = tile.run * element_bytes / 16;
  const Divisor per_run(box.record, kByOutputVectors, vectors);
  const Divisor blocks_of_x(box.record, kByOutputBlocks, operand.rows.by / kRows);
  const RunReader reader(box, operand);
  const uint32_t blocks = vectors * blocks_of_x.by * operand.rows_y;
  const uint32_t words_log = kRows == 2 ? 0 : box.gather.unit - 2;  // of a unit
  const uint32_t vector_stride = (kWords >> words_log) * box.gather.stride;
  MK_ROLLED for (uint32_t first = 0; first < blocks; first += device::kWarpLanes) {
    Spot spot = place_in(per_run, blocks_of_x, box.lane + first);
    spot.x = spot.x * kRows;
    const Lanes<bool> wanted = spot.at < inside && tile.row_inside(spot);
    const Lanes<uint32_t> from =
        device::select(wanted, reader.row(spot) + spot.at * vector_stride, Lanes<uint32_t>(0u));
    Lanes<uint32_t> words[kWords];
    MK_UNROLL for (uint32_t j = 0; j < kWords; ++j) {
      const uint32_t unit = j >> words_log;
      words[j] = ptx::ld_shared_u32(box.address(from + (unit * box.gather.stride + 4 * (j - (unit << words_log)))));
    }
    const Lanes<uint64_t> offset = operand.offset(spot, spot.at * 16u);
    if constexpr (kRows == 1) {
      ptx::st_global_v4(tile.base, offset, Words<4>{{words[0], words[1], words[2], words[3]}}, wanted);
    } else {
      Words<4> rows[2];
      MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
        rows[0].w[i] = (words[2 * i] & 0xffffu) | words[2 * i + 1] << 16;
        rows[1].w[i] = words[2 * i] >> 16 | (words[2 * i + 1] & 0xffff0000u);
      }
      ptx::st_global_v4(tile.base, offset, rows[0], wanted);
      ptx::st_global_v4(tile.base, offset + uint64_t{operand.x_step}, rows[1], wanted && spot.x + 1u < tile.x);
    }
  }
}

/// Up to four bytes of an element in shared memory.
MK_DEVICE Lanes<uint32_t> take_bits(uint32_t bytes, Lanes<uint32_t> address) {
  if (bytes == 1) return device::convert<uint32_t>(ptx::ld_shared_u8(address));
  if (bytes == 2) return device::convert<uint32_t>(ptx::ld_shared_u16(address));
  return ptx::ld_shared_u32(address);
}

/// Any runs: lanes gather 16 bytes from pieces of at most a word.
MK_DEVICE void store_gathered(const Box& box, const OperandSide& operand, const TileSide& tile,
                              uint32_t element_bytes) {
  const Divisor per_run(box.record, kByOutputVectors, (operand.run * element_bytes + 15) / 16);
  const uint32_t inside = tile.run * element_bytes / 16, of_vector = 16 / element_bytes;
  const RunReader reader(box, operand);
  const uint32_t vectors = per_run.by * operand.rows.by * operand.rows_y;
  const uint32_t piece = device::min(1u << box.gather.unit, 4u);  // bytes
  MK_ROLLED for (uint32_t first = 0; first < vectors; first += device::kWarpLanes) {
    const Spot spot = operand.spot(per_run, box.lane + first);
    const Lanes<bool> wanted = spot.at < inside && tile.row_inside(spot);
    RunWalk walk(reader, piece / element_bytes, spot.at * of_vector);
    const Lanes<uint32_t> row = reader.row(spot);
    Words<4> words;
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[i] = 0u;
    MK_ROLLED for (uint32_t word = 0; word < 4; ++word) {
      MK_UNROLL for (uint32_t i = 0; i < 3; ++i) words.w[i] = words.w[i + 1];
      words.w[3] = 0u;
      MK_ROLLED for (uint32_t byte = 0; byte < 4; byte += piece) {
        const Lanes<uint32_t> address = box.address(device::select(wanted, row + walk.offset, Lanes<uint32_t>(0u)));
        words.w[3] = words.w[3] | take_bits(piece, address) << (8 * byte);
        walk.advance();
      }
    }
    ptx::st_global_v4(tile.base, operand.offset(spot, spot.at * 16u), words, wanted);
  }
}

/// Elements one by one, for what no vectors fit: neighbouring lanes store neighbours.
MK_DEVICE void store_elements(const Box& box, const OperandSide& operand, const TileSide& tile,
                              uint32_t element_bytes) {
  const Divisor per_run(box.record, kByOutputRun, operand.run);
  const RunReader reader(box, operand);
  const uint32_t elements = operand.elements();
  MK_ROLLED for (uint32_t first = 0; first < elements; first += device::kWarpLanes) {
    const Spot spot = operand.spot(per_run, box.lane + first);
    const Lanes<bool> wanted = spot.at < tile.run && tile.row_inside(spot);
    const Lanes<uint32_t> from = reader.row(spot) + RunWalk(reader, 1, spot.at).offset;
    const Lanes<uint32_t> address = box.address(device::select(wanted, from, Lanes<uint32_t>(0u)));
    const Lanes<uint64_t> offset = operand.offset(spot, spot.at * operand.run_step);
    if (element_bytes == 8) {
      ptx::st_global_u64(tile.base, offset, ptx::ld_shared_u64(address), wanted);
      continue;
    }
    const Lanes<uint32_t> bits = take_bits(element_bytes, address);
    if (element_bytes == 4)
      ptx::st_global_u32(tile.base, offset, bits, wanted);
    else if (element_bytes == 2)
      ptx::st_global_u16(tile.base, offset, device::convert<uint16_t>(bits), wanted);
    else
      ptx::st_global_u8(tile.base, offset, device::convert<uint8_t>(bits), wanted);
  }
}

MK_DEVICE void store_tile(const Box& box, const OperandSide& operand, const TileSide& tile) {
  const uint32_t element_bytes = element_size(operand.type);
  const bool vectors = operand.vectors(tile, element_bytes, 16 / element_bytes, 16);
  if (!vectors || (!box.gather.wide && element_bytes == 8)) return store_elements(box, operand, tile, element_bytes);
  if (!box.gather.wide) return store_gathered(box, operand, tile, element_bytes);
  if (box.gather.unit == 1) return store_wide<2>(box, operand, tile, element_bytes);
  store_wide<1>(box, operand, tile, element_bytes);
}

}  // namespace megakittens::ops::permute
