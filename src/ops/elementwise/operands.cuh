// A warp's block of an elementwise instruction: operands from the ring's stage or the staging pages, results to global
// memory.
#pragma once

#include "ops/elementwise/gather.cuh"
#include "ops/pointwise/machine.cuh"

namespace megakittens::ops::elementwise {

/// What the instruction says about its pieces.
struct Shape {
  uint32_t operands;
  uint32_t piece;     ///< elements of a stage; the whole instruction where there is no ring
  uint32_t depth;     ///< stages that the ring has; 0 without a ring
  uint32_t per_page;  ///< stages in a page, a power of two
  uint32_t elements;
  uint32_t staging;  ///< pages, behind the ring's, for operands that the consumers bring
  bool narrow;       ///< the code needs all temporaries

  template <class B>
  MK_DEVICE explicit Shape(const device::Context<B>& c) {
    const uint32_t word = static_cast<uint32_t>(c.index(kShape));
    operands = word & 0x1f;
    staging = word >> 5 & 3;
    narrow = (word & kNarrow) != 0;
    depth = word >> 16 & 0xff;
    per_page = word >> 24;
    elements = static_cast<uint32_t>(c.index(kElements));
    piece = depth == 0 ? elements : (word >> 8 & 0xff) * kBlock;
  }
  MK_DEVICE uint32_t stages() const { return depth == 0 ? 1 : (elements + piece - 1) / piece; }
  MK_DEVICE bool gathers() const { return staging != 0; }
  /// Page of the ring's place, and bytes from its beginning: by shifts, for a division would be on the way to every
  /// load.
  MK_DEVICE uint32_t page_shift() const { return per_page > 4 ? 3 : per_page > 2 ? 2 : per_page - 1; }
  MK_DEVICE uint32_t page_of(uint32_t place) const { return place >> page_shift(); }
  template <class B>
  MK_DEVICE uint32_t offset_of(uint32_t place) const {
    return (place & (per_page - 1)) * (B::kPageBytes >> page_shift());
  }
  /// Pages that the ring takes.
  MK_DEVICE uint32_t pages() const { return depth == 0 ? 0 : page_of(device::min(depth, stages()) + per_page - 1); }
};

template <class B>
MK_DEVICE uint32_t mode_of(const device::Context<B>& c, uint32_t k) {
  return static_cast<uint32_t>(c.index(k < 8 ? kModesLow : kModesHigh)) >> (4 * (k % 8)) & 15;
}
/// The input comes through the ring.
MK_DEVICE bool in_ring(uint32_t mode, uint32_t word) {
  return mode == kDense && (word >> 8 & program::kOperandOutput) == 0;
}
/// The input is brought by the consumers.
MK_DEVICE bool is_gathered(uint32_t mode, uint32_t word) {
  return mode != kDense && mode != kScalar && (word >> 8 & program::kOperandOutput) == 0;
}

struct SharedRun {
  Lanes<uint32_t> address;
  MK_DEVICE Words<4> v4(uint32_t i) const { return ptx::ld_shared_v4(address + 16 * i); }
  MK_DEVICE Words<2> v2() const { return ptx::ld_shared_v2(address); }
};

/// What the instruction says of its operands, operand k in lane k: read once, for chains of loads cost more than
/// arithmetic.
struct Operands {
  /// Type, mode, bytes of an element of the inputs before it that lie where it does: eight bits each.
  Lanes<uint32_t> word;
  Lanes<uint32_t> base[2];

  template <class B>
  MK_DEVICE Operands(const device::Context<B>& c, const Shape& shape, Lanes<uint32_t> lane) {
    const uint64_t begin = begin_of(c.index(kBeginLow), c.index(kBeginHigh));
    word = base[0] = base[1] = 0u;
    uint32_t ring = 0, gathered = 0;
    MK_ROLLED for (uint32_t k = 0; k < shape.operands; ++k) {
      const device::OperandWindow window = c.window(k);
      const uint32_t operand = c.operand_word(k), mode = mode_of(c, k), size = element_size(window.type);
      const uint64_t address = reinterpret_cast<uint64_t>(window.base) + (mode == kDense ? begin * size : 0);
      const Lanes<bool> own = lane == k;
      word = device::select(own, Lanes<uint32_t>(window.type | mode << 8 | (mode == kDense ? ring : gathered) << 16),
                            word);
      base[0] = device::select(own, Lanes<uint32_t>(static_cast<uint32_t>(address)), base[0]);
      base[1] = device::select(own, Lanes<uint32_t>(static_cast<uint32_t>(address >> 32)), base[1]);
      if (in_ring(mode, operand)) ring += size;
      if (is_gathered(mode, operand)) gathered += size;
    }
  }
  MK_DEVICE uint32_t word_of(uint32_t k) const {
    return device::lane_value<uint32_t>(device::shuffle_index(word, Lanes<uint32_t>(k)));
  }
  /// Of dense operands the instruction's first element, of others the space's.
  MK_DEVICE char* base_of(uint32_t k) const {
    const uint64_t low = device::lane_value<uint32_t>(device::shuffle_index(base[0], Lanes<uint32_t>(k)));
    const uint64_t high = device::lane_value<uint32_t>(device::shuffle_index(base[1], Lanes<uint32_t>(k)));
    return reinterpret_cast<char*>(high << 32 | low);
  }
};

/// What run_code reads and writes through.
template <class B>
struct Port {
  const device::Context<B>& c;
  const Shape& shape;
  const Operands& operands;
  Lanes<uint32_t> lane;
  uint32_t stage_address;
  uint32_t stage_first;   ///< the stage's first element, of the instruction's
  Lanes<uint32_t> first;  ///< the lane's first element

  MK_DEVICE Lanes<uint32_t> element(uint32_t g) const { return first + 256 * g; }

  /// Where the lane's first element of the input with this word lies: in the stage, or in the warp's part of the
  /// staging pages, of which each gathered operand before it has taken what eight warps compute at once.
  template <uint32_t kLaneValues>
  MK_DEVICE Lanes<uint32_t> address_of(uint32_t word) const {
    const uint32_t size = element_size(word & 0xff), before = word >> 16;
    if ((word >> 8 & 0xff) == kDense) return (first - stage_first) * size + (stage_address + before * shape.piece);
    const uint32_t at = (before * device::kConsumerWarps + c.warp * size) * (32 * kLaneValues);
    const uint32_t page = c.page_address(shape.pages() + at / B::kPageBytes);
    return lane * (8 * size) + (page + at % B::kPageBytes);
  }

  /// Brings the block's elements of what the ring has not.
  template <uint32_t kLaneValues>
  MK_DEVICE void gather_operands() const {
    MK_ROLLED for (uint32_t k = 0; k < shape.operands; ++k) {
      const uint32_t mode = mode_of(c, k);
      if (is_gathered(mode, c.operand_word(k)))
        gather<kLaneValues / kRun>(c, k, mode, shape.elements, first, address_of<kLaneValues>(operands.word_of(k)));
    }
  }

  template <uint32_t kCount>
  MK_DEVICE void load(uint32_t k, Lanes<float> (&values)[kCount]) const {
    const uint32_t word = operands.word_of(k), type = word & 0xff, mode = word >> 8 & 0xff;
    if (mode == kScalar) {
      const Lanes<float> value = load_value(type, operands.base_of(k), Lanes<uint64_t>(uint64_t{0}), Lanes<bool>(true));
      MK_UNROLL for (uint32_t i = 0; i < kCount; ++i) values[i] = value;
      return;
    }
    const Lanes<uint32_t> address = address_of<kCount>(word);
    const uint32_t step = 256 * element_size(type);
    // Lanes behind the end read the stage's beginning: bulk copies brought nothing to their own places.
    const bool dense = mode == kDense;
    auto run = [&](uint32_t g) MK_INLINE {
      const Lanes<bool> exists = element(g) < shape.elements || !dense;
      return SharedRun{device::select(exists, address + g * step, Lanes<uint32_t>(stage_address))};
    };
    constexpr uint32_t kRuns = kCount / kRun;
    if (type == static_cast<uint32_t>(ElementType::bf16)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
          read_floating_run(static_cast<uint32_t>(ElementType::bf16), run(g), values + g * kRun);
    } else if (type == static_cast<uint32_t>(ElementType::f32)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
          read_floating_run(static_cast<uint32_t>(ElementType::f32), run(g), values + g * kRun);
    } else if (type == static_cast<uint32_t>(ElementType::f16)) {
      MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
          read_floating_run(static_cast<uint32_t>(ElementType::f16), run(g), values + g * kRun);
    } else {
      MK_ROLLED for (uint32_t g = 0; g < kRuns; ++g) {
        read_run(type, run(g), values);
        turn_chunk<kRun>(values);
      }
    }
  }

  /// `values` are the same afterwards.
  template <uint32_t kCount>
  MK_DEVICE void store(uint32_t k, Lanes<float> (&values)[kCount]) const {
    if (c.aborted) return;
    const uint32_t word = operands.word_of(k), type = word & 0xff, mode = word >> 8 & 0xff;
    if (mode == kDense) {
      const uint32_t size = element_size(type);
      char* base = operands.base_of(k);
      auto run = [&](uint32_t g) MK_INLINE {
        return GlobalRun{base, device::convert<uint64_t>(element(g) * size), element(g) < shape.elements};
      };
      constexpr uint32_t kRuns = kCount / kRun;
      if (type == static_cast<uint32_t>(ElementType::bf16)) {
        MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g)
            write_floating_run(static_cast<uint32_t>(ElementType::bf16), run(g), values + g * kRun);
      } else {
        MK_UNROLL for (uint32_t g = 0; g < kRuns; ++g) write_run(type, run(g), values + g * kRun);
      }
      return;
    }
    const RecordSpace space(c);
    const Strided operand(c, space, k);
    MK_ROLLED for (uint32_t g = 0; g < kCount / kRun; ++g) {
      if (mode == kVectorRun) {
        write_run(
            type,
            GlobalRun{operand.base, operand.offset(space, Position(c, space, element(g))), element(g) < shape.elements},
            values);
      } else {
        Walk walk(c, space, operand, element(g));
        const Lanes<int32_t> left = device::convert<int32_t>(shape.elements - element(g));
        MK_UNROLL for (int32_t i = 0; i < int32_t{kRun}; ++i)
            store_value(type, operand.base, walk.next(), values[i], left > i);
      }
      turn_chunk<kRun>(values);
    }
  }
};

}  // namespace megakittens::ops::elementwise
