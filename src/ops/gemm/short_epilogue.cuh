// The epilogues of most products without the byte code's machine: rounding, an added matrix or row, relu. bf16, whole
// tiles, results bit for bit those of the byte code. The added operand's first loads go out before the products.
#pragma once

#include "ops/gemm/epilogue.cuh"

namespace megakittens::ops {

/// The instruction's code, where it is one of `store`, `round_add_round` or `round_add_round_relu` and a store.
struct ShortCode {
  bool known;
  bool add;
  bool relu;
  uint32_t source;  ///< operand that is added
  uint32_t output;

  template <class B>
  MK_DEVICE explicit ShortCode(const device::Context<B>& c) {
    const uint32_t count = c.code_count();
    const CodeWord first = device::bit_cast<CodeWord>(c.code(0)), second = device::bit_cast<CodeWord>(c.code(1));
    const CodeOp op = static_cast<CodeOp>(first.op);
    relu = op == CodeOp::round_add_round_relu;
    add = relu || op == CodeOp::round_add_round;
    const CodeWord last = add ? second : first;
    known =
        count == (add ? 2u : 1u) && static_cast<CodeOp>(last.op) == CodeOp::store &&
        (!add || (first.source < program::kSourceTemporary && first.type == static_cast<uint8_t>(ElementType::bf16)));
    source = first.source;
    output = last.third;
  }
};

/// bf16 with eight neighbours in an aligned vector, wherever a run begins.
MK_DEVICE bool is_bf16_vector(const GlobalOperand& operand) {
  return operand.vector && operand.type == static_cast<uint32_t>(ElementType::bf16);
}

/// A warp's part of a whole tile, as the short epilogue moves it: a lane's eight columns in each of two rows. Beside a
/// wide part's accumulators there are registers for little else: where pairs go is found out when they are stored.
template <uint32_t kColumns>
struct ShortEpilogue {
  static constexpr uint32_t kGroups = kColumns / 32;
  static constexpr uint32_t kAhead = 2;  ///< groups of the added operand that are loaded early
  static constexpr bool kNarrow = kGroups <= kAhead;
  /// Two groups side by side are stored together, as whole lines of 128 bytes: L2 takes those faster than halves.
  static constexpr bool kPaired = kGroups % 2 == 0;

  bool usable;
  bool add;
  bool relu;
  uint32_t output;
  char* side;
  char* out;
  Lanes<uint64_t> side_at[2];
  Lanes<uint64_t> out_at[2];
  Words<4> side_words[kAhead][2];

  /// Whether it serves.
  template <class B>
  static MK_DEVICE bool serves(const device::Context<B>& c, int32_t tile_rows, int32_t tile_columns) {
    const ShortCode code(c);
    const GlobalOperand added(c.window(code.known && code.add ? code.source : 0));
    const GlobalOperand stored(c.window(code.known ? code.output : 0));
    return code.known && c.index(gemm::kRows) == tile_rows && c.index(gemm::kColumns) == tile_columns &&
           is_bf16_vector(stored) && (!code.add || is_bf16_vector(added));
  }

  /// Finds out whether it serves. Reads all that it needs from the slot before it looks at any of it: a tile waits for
  /// these reads.
  template <class B>
  MK_DEVICE void prepare(const device::Context<B>& c, const TilePart& part, int32_t tile_rows, int32_t tile_columns) {
    const ShortCode code(c);
    const int32_t rows = c.index(gemm::kRows), columns = c.index(gemm::kColumns);
    output = code.known ? code.output : 0;
    const device::OperandWindow added_window = c.window(code.known && code.add ? code.source : 0);
    const device::OperandWindow output_window = c.window(output);
    const GlobalOperand added(added_window);
    usable = code.known && rows == tile_rows && columns == tile_columns &&
             is_bf16_vector(GlobalOperand(output_window)) && (!code.add || is_bf16_vector(added));
    add = usable && code.add;
    relu = code.relu;
    side = added.base;
    const QuadPlace<B> place(c, part.row);
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) side_at[h] = added.offset(place.row(h), place.column(h) + part.column);
    if constexpr (!kPaired) place_output(c, part);
  }

  /// Starts the added operand's first loads. After the first stage is full: that stands for its waits as well.
  MK_DEVICE void prefetch_before() {
    prefetch(0);
    if constexpr (kNarrow && kGroups > 1) prefetch(1);
  }
  /// After the products.
  MK_DEVICE void prefetch_after() {
    if constexpr (!kNarrow) prefetch(1);
  }

  /// Needs `usable`, and that the tile may be written.
  template <uint32_t kCount, class B>
  MK_DEVICE void store(const device::Context<B>& c, const Lanes<float> (&acc)[kCount], const TilePart& part) {
    static_assert(kCount == kColumns / 2);
    if constexpr (kPaired)
      store_pairs(c, acc, part);
    else
      store_groups(acc);
  }

 private:
  template <uint32_t kCount>
  MK_DEVICE void store_groups(const Lanes<float> (&acc)[kCount]) {
    MK_UNROLL for (uint32_t g = 0; g < kGroups; ++g) {
      MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
        Words<4> words = row_words(acc, g, h);
        if (add) add_side(words, side_words[g % kAhead][h]);
        ptx::st_global_v4(out, out_at[h] + uint64_t{64 * g}, words);
      }
      if (add && g + kAhead < kGroups) load_side(g + kAhead);
    }
  }
  /// Lanes 0 to 15 store the first group of a pair, lanes 16 to 31 the second, of the same rows: four at a time.
  template <uint32_t kCount, class B>
  MK_DEVICE void store_pairs(const device::Context<B>& c, const Lanes<float> (&acc)[kCount], const TilePart& part) {
    const GlobalOperand operand(c.window(output));
    const Lanes<uint32_t> lane = device::lane_index();
    const Lanes<int32_t> row = device::convert<int32_t>((lane >> 2) & 3u);
    const Lanes<int32_t> column = device::convert<int32_t>((lane & 3u) * 8 + (lane >> 4) * 32);
    const Lanes<uint64_t> at = operand.offset(row + (c.index(kTileRow) + static_cast<int32_t>(part.row)),
                                              column + (c.index(kTileColumn) + part.column));
    const uint64_t four_rows = static_cast<uint64_t>(operand.row_bytes) * 4;
    MK_UNROLL for (uint32_t g = 0; g < kGroups; g += 2) {
      MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
        Words<4> first = row_words(acc, g, h), second = row_words(acc, g + 1, h);
        if (add) {
          add_side(first, side_words[0][h]);
          add_side(second, side_words[1][h]);
        }
        exchange_rows(first, second);
        ptx::st_global_v4(operand.base, at + (uint64_t{64 * g} + 2 * h * four_rows), first);
        ptx::st_global_v4(operand.base, at + (uint64_t{64 * g} + (2 * h + 1) * four_rows), second);
      }
      if (add && g + kAhead < kGroups) {
        load_side(g + kAhead);
        load_side(g + kAhead + 1);
      }
    }
  }
  /// Before, a lane holds two groups of its own row. After, lanes l and l + 16 hold, of the row of l, the first and the
  /// second group in `first`, and of the row of l + 16 in `second`.
  static MK_DEVICE void exchange_rows(Words<4>& first, Words<4>& second) {
    const Lanes<bool> upper = (device::lane_index() & 16u) != 0u;
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      const Lanes<uint32_t> got = device::shuffle_xor(device::select(upper, first.w[i], second.w[i]), 16);
      first.w[i] = device::select(upper, got, first.w[i]);
      second.w[i] = device::select(upper, second.w[i], got);
    }
  }
  template <class B>
  MK_DEVICE void place_output(const device::Context<B>& c, const TilePart& part) {
    const GlobalOperand operand(c.window(output));
    const QuadPlace<B> place(c, part.row);
    out = operand.base;
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) out_at[h] = operand.offset(place.row(h), place.column(h) + part.column);
  }
  MK_DEVICE void prefetch(uint32_t g) {
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) side_words[g][h] = Words<4>{};
    if (add) load_side(g);
  }
  MK_DEVICE void load_side(uint32_t group) {
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) side_words[group % kAhead][h] =
        ptx::ld_global_v4(side, side_at[h] + uint64_t{64 * group});
  }
  /// Group g of row half h, rounded: eight neighbouring columns of one block in each lane of a quad.
  template <uint32_t kCount>
  static MK_DEVICE Words<4> row_words(const Lanes<float> (&acc)[kCount], uint32_t g, uint32_t h) {
    const Lanes<uint32_t> quad = device::lane_index() & 3u;
    const Lanes<bool> odd = (quad & 1u) != 0u, high = (quad & 2u) != 0u;
    Words<4> words;
    MK_UNROLL for (uint32_t b = 0; b < 4; ++b) {
      const uint32_t at = 16 * g + 4 * b + 2 * h;
      words.w[b] = device::pack_bf16x2(acc[at], acc[at + 1]);
    }
    exchange(words, odd, 1, 1);
    exchange(words, high, 2, 2);
    return words;
  }
  /// One step of turning a quad's 4 x 4 words: partners `lane` apart exchange words `apart` apart.
  static MK_DEVICE void exchange(Words<4>& words, Lanes<bool> upper, uint32_t apart, uint32_t lane) {
    MK_UNROLL for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t low = apart == 1 ? 2 * i : i, high = low + apart;
      const Lanes<uint32_t> got = device::shuffle_xor(device::select(upper, words.w[low], words.w[high]), lane);
      words.w[low] = device::select(upper, got, words.w[low]);
      words.w[high] = device::select(upper, words.w[high], got);
    }
  }
  MK_DEVICE void add_side(Words<4>& words, const Words<4>& added) const {
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      Lanes<float> low = device::bf16_low(words.w[i]) + device::bf16_low(added.w[i]);
      Lanes<float> high = device::bf16_high(words.w[i]) + device::bf16_high(added.w[i]);
      if (relu) {
        low = device::max(low, Lanes<float>(0.0f));
        high = device::max(high, Lanes<float>(0.0f));
      }
      words.w[i] = device::pack_bf16x2(low, high);
    }
  }
};

}  // namespace megakittens::ops
