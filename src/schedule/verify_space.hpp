// Regions of one storage as cells that each region holds whole or not at all: the verifier's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/instruction_type.hpp"

namespace megakittens::schedule {

/// A region in bytes: dimensions by descending stride, neighbours joined, the last one dense (stride 1).
struct ByteRegion {
  static constexpr int kMaxRank = 9;
  int rank = 0;
  std::int64_t offset = 0;
  std::array<std::int64_t, kMaxRank> sizes{};
  std::array<std::int64_t, kMaxRank> strides{};

  /// Rank 0 where the region holds nothing.
  static ByteRegion of(const ops::Region& region);
  /// One past the last byte.
  std::int64_t end() const;
};

/// Byte positions are written in mixed radix over the strides that occur, when each divides the next; a region is then
/// a few boxes of digits, and the bounds of all boxes cut each digit's range into intervals. Where strides do not
/// divide each other, regions are runs of bytes instead: still exact, with more pieces.
class CellSpace {
 public:
  /// Throws CapacityError where more than 2^26 pieces would be needed.
  explicit CellSpace(std::span<const ByteRegion> regions);

  std::size_t cells() const { return cells_; }

  /// Calls `visit(cell)` once for every cell of region r.
  template <typename Visit>
  void for_each_cell(std::size_t r, Visit&& visit) const {
    const int digits = static_cast<int>(intervals_.size());
    for (std::size_t p = piece_first_[r]; p < piece_first_[r + 1]; ++p) {
      const std::uint32_t* box = pieces_.data() + p * 2 * digits;  // lower, upper cut of each digit
      std::array<std::uint32_t, kMaxDigits> at{};
      for (int d = 0; d < digits; ++d) at[d] = box[2 * d];
      const int last = digits - 1;
      while (true) {
        std::size_t row = 0;
        for (int d = 0; d < last; ++d) row = (row + at[d]) * intervals_[d + 1];
        for (std::uint32_t c = box[2 * last]; c < box[2 * last + 1]; ++c) visit(row + c);
        int d = last - 1;
        for (; d >= 0; --d) {
          if (++at[d] < box[2 * d + 1]) break;
          at[d] = box[2 * d];
        }
        if (d < 0) break;
      }
    }
  }

 private:
  static constexpr int kMaxDigits = 8;

  bool use_digits(std::span<const ByteRegion> regions);
  void use_runs(std::span<const ByteRegion> regions);
  void split(ByteRegion region);
  void split_digits(const ByteRegion& region, int dim, std::vector<std::int64_t>& box);
  void split_run(const ByteRegion& region, int dim, int digit, int end, std::int64_t begin, std::int64_t length,
                 std::vector<std::int64_t>& box);
  bool cut();
  std::size_t number_cuts(std::size_t digit);

  std::vector<std::int64_t> radix_;  // stride of each digit, descending; the last is 1
  std::vector<std::int64_t> raw_;    // pieces as digit values, before they are numbered by cut
  std::vector<std::uint32_t> pieces_;
  std::vector<std::size_t> piece_first_;
  std::vector<std::size_t> intervals_;  // by digit, between cuts
  std::size_t cells_ = 0;
};

}  // namespace megakittens::schedule
