// A warp's tile from shared into global memory, in the output's order.
#pragma once

#include "ops/permute/elements.cuh"

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

/// Linear runs of 16-bit units whose neighbours belong to two rows: lanes read words, and store 16 bytes of either row.
MK_DEVICE void store_pairs(const Box& box, const OperandSide& operand, const RunReader& reader, const TileSide& tile,
                           uint32_t element_bytes) {
  const Divisor per_run(box.record, kByOutputVectors, (operand.run * element_bytes + 15) / 16);
  const Divisor pairs_of_x(box.record, kByOutputBlocks, operand.rows.by / 2);
  const uint32_t blocks = per_run.by * pairs_of_x.by * operand.rows_y, stride = box.gather.stride;
  MK_ROLLED for (uint32_t first = 0; first < blocks; first += device::kWarpLanes) {
    Spot spot = place_in(per_run, pairs_of_x, box.lane + first);
    spot.x = spot.x * 2u;
    const RowVector vector = operand.vector(tile, spot, element_bytes);
    const Lanes<uint32_t> from =
        device::select(vector.inside, reader.row(spot) + spot.at * (8 * stride), Lanes<uint32_t>(0u));
    Words<4> rows[2];
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      const Lanes<uint32_t> even = ptx::ld_shared_u32(box.address(from + 2 * i * stride));
      const Lanes<uint32_t> odd = ptx::ld_shared_u32(box.address(from + (2 * i + 1) * stride));
      rows[0].w[i] = (even & 0xffffu) | odd << 16;
      rows[1].w[i] = even >> 16 | (odd & 0xffff0000u);
    }
    const Lanes<uint64_t> offset = operand.offset(spot, vector.at);
    ptx::st_global_v4(tile.base, offset, rows[0], vector.inside);
    ptx::st_global_v4(tile.base, offset + uint64_t{operand.x_step}, rows[1], vector.inside && spot.x + 1u < tile.x);
  }
}

/// Up to four bytes of an element in shared memory.
MK_DEVICE Lanes<uint32_t> take_bits(uint32_t bytes, Lanes<uint32_t> address) {
  if (bytes == 1) return device::convert<uint32_t>(ptx::ld_shared_u8(address));
  if (bytes == 2) return device::convert<uint32_t>(ptx::ld_shared_u16(address));
  return ptx::ld_shared_u32(address);
}

/// 16 bytes that lie together in shared memory, at any place.
MK_DEVICE Words<4> take_contiguous(const Box& box, Lanes<uint32_t> from) {
  const Lanes<uint32_t> address = box.shared + (from & ~3u), shift = (from & 3u) * 8u;
  Words<4> words;
  Lanes<uint32_t> word = ptx::ld_shared_u32(address);
  MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    // There need not be a fifth word.
    const Lanes<uint32_t> at = i < 3
                                   ? address + 4 * (i + 1)
                                   : address + device::select(shift != 0u, Lanes<uint32_t>(16u), Lanes<uint32_t>(12u));
    const Lanes<uint32_t> next = ptx::ld_shared_u32(at);
    const Lanes<uint64_t> both = device::convert<uint64_t>(next) << 32 | device::convert<uint64_t>(word);
    words.w[i] = device::convert<uint32_t>(both >> shift);
    word = next;
  }
  return words;
}

/// 16 bytes from units of at least two bytes that have one stride.
MK_DEVICE Words<4> take_linear(const Box& box, Lanes<uint32_t> from) {
  const uint32_t stride = box.gather.stride;
  Words<4> words;
  if (box.gather.unit == 1) {
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[i] =
        take_bits(2, box.address(from + 2 * i * stride)) | take_bits(2, box.address(from + (2 * i + 1) * stride)) << 16;
    return words;
  }
  const uint32_t words_log = box.gather.unit - 2;  // of a unit
  MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t unit = i >> words_log;
    words.w[i] = ptx::ld_shared_u32(box.address(from + (unit * stride + 4 * (i - (unit << words_log)))));
  }
  return words;
}

/// 16 bytes from pieces of at most a word.
MK_DEVICE Words<4> take_pieces(const Box& box, RunWalk walk, Lanes<uint32_t> row, Lanes<bool> wanted, uint32_t piece) {
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
  return words;
}

/// Any runs: lanes gather 16 bytes that are aligned in the output.
MK_DEVICE void store_vectors(const Box& box, const OperandSide& operand, const RunReader& reader, const TileSide& tile,
                             uint32_t element_bytes) {
  const Divisor per_run(box.record, kByOutputVectors, (operand.run * element_bytes + 15) / 16);
  const uint32_t vectors = per_run.by * operand.rows.by * operand.rows_y;
  const bool whole_units = operand.aligned(tile) || 1u << box.gather.unit == element_bytes;
  const bool linear = box.gather.linear && box.gather.unit != 0 && whole_units;
  const uint32_t log = log_of(element_bytes);
  const uint32_t piece = whole_units ? device::min(1u << box.gather.unit, 4u) : element_bytes;
  MK_ROLLED for (uint32_t first = 0; first < vectors; first += device::kWarpLanes) {
    const Spot spot = operand.spot(per_run, box.lane + first);
    const RowVector vector = operand.vector(tile, spot, element_bytes);
    const Lanes<uint32_t> row = reader.row(spot), none = 0u;
    Words<4> words;
    // Where units of 16 bytes lie aligned, no word needs a shift.
    if (box.gather.contiguous() && linear && box.gather.unit == 4)
      words = ptx::ld_shared_v4(device::select(vector.inside, row + vector.at, none) + box.shared);
    else if (box.gather.contiguous())
      words = take_contiguous(box, device::select(vector.inside, row + vector.at, none));
    else if (linear)
      words = take_linear(
          box, device::select(vector.inside, row + (vector.at >> box.gather.unit) * box.gather.stride, none));
    else
      words = take_pieces(box, RunWalk(reader, piece >> log, vector.at >> log), row, vector.inside, piece);
    ptx::st_global_v4(tile.base, operand.offset(spot, vector.at), words, vector.inside);
  }
}

/// Elements one by one: all, or those at the ends of rows. Neighbouring lanes store neighbours.
MK_DEVICE void store_elements(const Box& box, const OperandSide& operand, const RunReader& reader, const TileSide& tile,
                              uint32_t element_bytes, bool ends) {
  const Elements elements(box, operand, tile, kByOutputRun, element_bytes, ends);
  MK_ROLLED for (uint32_t first = 0; first < elements.count; first += device::kWarpLanes) {
    const Spot spot = elements.spot(box.lane + first);
    const Lanes<bool> wanted = elements.wanted(spot);
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
  const uint32_t bytes = element_size(operand.type);
  // Lanes without a vector read the tile's first one: runs hold one, or shared memory there was never written.
  const bool vectors = operand.run_step == bytes && (bytes < 8 || box.gather.linear) && operand.run * bytes >= 16;
  const RunReader reader(box, operand);
  if (vectors) {
    if (rows_of_word(box.gather) == 2 && operand.aligned(tile))
      store_pairs(box, operand, reader, tile, bytes);
    else
      store_vectors(box, operand, reader, tile, bytes);
  }
  if (!vectors || !operand.whole(tile, bytes)) store_elements(box, operand, reader, tile, bytes, vectors);
}

}  // namespace megakittens::ops::permute
