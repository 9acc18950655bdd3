#include "schedule/verify_space.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 23;
constexpr std::size_t kMaxPieces = std::size_t{1} << 26;
constexpr std::size_t kSmallRange = 4096;

}  // namespace

ByteRegion ByteRegion::of(const ops::Region& region) {
  ByteRegion bytes;
  const std::int64_t element = program::size_of(region.type);
  bytes.offset = region.offset * element;
  MK_CHECK(region.sizes.size() == region.strides.size() && region.sizes.size() < kMaxRank, "a region of {} dimensions",
           region.sizes.size());
  std::array<std::pair<std::int64_t, std::int64_t>, kMaxRank> dims;  // stride, size
  int rank = 0;
  for (std::size_t d = 0; d < region.sizes.size(); ++d) {
    if (region.sizes[d] <= 0) return bytes;
    if (region.sizes[d] > 1 && region.strides[d] != 0) dims[rank++] = {region.strides[d] * element, region.sizes[d]};
  }
  dims[rank++] = {1, element};
  std::sort(dims.begin(), dims.begin() + rank, std::greater<>());
  for (int d = 0; d < rank; ++d) {
    auto [stride, size] = dims[d];
    if (bytes.rank > 0 && bytes.strides[bytes.rank - 1] == stride * size) {
      bytes.sizes[bytes.rank - 1] *= size;
      bytes.strides[bytes.rank - 1] = stride;
    } else {
      bytes.sizes[bytes.rank] = size;
      bytes.strides[bytes.rank++] = stride;
    }
  }
  return bytes;
}

std::int64_t ByteRegion::end() const {
  std::int64_t last = offset;
  for (int d = 0; d < rank; ++d) last += (sizes[d] - 1) * strides[d];
  return last + 1;
}

CellSpace::CellSpace(std::span<const ByteRegion> regions) {
  if (!use_digits(regions)) use_runs(regions);
  raw_ = {};
}

bool CellSpace::use_digits(std::span<const ByteRegion> regions) {
  radix_.clear();
  for (const ByteRegion& region : regions)
    for (int d = 0; d < region.rank; ++d)
      if (std::find(radix_.begin(), radix_.end(), region.strides[d]) == radix_.end()) {
        radix_.push_back(region.strides[d]);
        if (radix_.size() > kMaxDigits) return false;
      }
  if (radix_.empty()) radix_.push_back(1);
  std::sort(radix_.begin(), radix_.end(), std::greater<>());
  for (std::size_t d = 0; d + 1 < radix_.size(); ++d)
    if (radix_[d] % radix_[d + 1] != 0) return false;
  raw_.clear();
  piece_first_.assign(1, 0);
  for (const ByteRegion& region : regions) {
    if (region.rank > 0) split(region);
    piece_first_.push_back(raw_.size() / (2 * radix_.size()));
    if (raw_.size() > kMaxPieces) return false;
  }
  return cut();
}

// Halves a region where a dimension would carry into the digits of the next outer one.
void CellSpace::split(ByteRegion region) {
  for (int d = region.rank - 1; d > 0; --d) {
    const std::int64_t stride = region.strides[d];
    const std::int64_t room =
        region.strides[d - 1] / stride - region.offset / stride % (region.strides[d - 1] / stride);
    if (region.sizes[d] <= room) continue;
    ByteRegion rest = region;
    region.sizes[d] = room;
    rest.sizes[d] -= room;
    rest.offset += room * stride;
    split(region);
    split(rest);
    return;
  }
  std::vector<std::int64_t> box(2 * radix_.size());
  split_digits(region, 0, box);
}

// Dimension `dim` runs over the digits from its outer neighbour's stride (not included) to its own.
void CellSpace::split_digits(const ByteRegion& region, int dim, std::vector<std::int64_t>& box) {
  if (dim == region.rank) {
    raw_.insert(raw_.end(), box.begin(), box.end());
    return;
  }
  auto digit_of = [&](std::int64_t stride) {
    return static_cast<int>(std::find(radix_.begin(), radix_.end(), stride) - radix_.begin());
  };
  const int first = dim == 0 ? 0 : digit_of(region.strides[dim - 1]) + 1;
  const std::int64_t stride = region.strides[dim];
  std::int64_t begin = region.offset / stride;
  if (dim > 0) begin %= region.strides[dim - 1] / stride;
  split_run(region, dim, first, digit_of(stride) + 1, begin, region.sizes[dim], box);
}

// [begin, begin + length) in units of the stride of digit end - 1, over digits [digit, end): head, middle and tail.
void CellSpace::split_run(const ByteRegion& region, int dim, int digit, int end, std::int64_t begin,
                          std::int64_t length, std::vector<std::int64_t>& box) {
  if (digit == end) return split_digits(region, dim + 1, box);
  const std::int64_t inner = radix_[digit] / radix_[end - 1];
  auto put = [&](std::int64_t lo, std::int64_t hi, std::int64_t from, std::int64_t count) {
    box[2 * digit] = lo;
    box[2 * digit + 1] = hi;
    split_run(region, dim, digit + 1, end, from, count, box);
  };
  std::int64_t row = begin / inner;
  const std::int64_t stop = begin + length;
  if ((stop - 1) / inner == row) return put(row, row + 1, begin % inner, length);
  if (begin % inner != 0) {
    put(row, row + 1, begin % inner, (row + 1) * inner - begin);
    ++row;
  }
  if (stop / inner > row) put(row, stop / inner, 0, inner);
  if (stop % inner != 0) put(stop / inner, stop / inner + 1, 0, stop % inner);
}

void CellSpace::use_runs(std::span<const ByteRegion> regions) {
  radix_.assign(1, 1);
  raw_.clear();
  piece_first_.assign(1, 0);
  for (const ByteRegion& region : regions) {
    std::array<std::int64_t, ByteRegion::kMaxRank> at{};
    std::int64_t offset = region.offset;
    for (bool more = region.rank > 0; more;) {
      raw_.push_back(offset);
      raw_.push_back(offset + region.sizes[region.rank - 1]);
      if (raw_.size() > 2 * kMaxPieces)
        throw CapacityError(fmt::format("regions of one storage need more than {} pieces to be compared", kMaxPieces));
      int d = region.rank - 2;
      for (; d >= 0; --d) {
        offset += region.strides[d];
        if (++at[d] < region.sizes[d]) break;
        offset -= region.strides[d] * region.sizes[d];
        at[d] = 0;
      }
      more = d >= 0;
    }
    piece_first_.push_back(raw_.size() / 2);
  }
  MK_CHECK(cut(), "runs of bytes were cut into {} cells", cells_);
}

// Bounds become the numbers of their cuts. A table does it where the range is small against the number of bounds.
std::size_t CellSpace::number_cuts(std::size_t digit) {
  const std::size_t step = 2 * radix_.size();
  auto [lo, hi] = std::pair(std::numeric_limits<std::int64_t>::max(), std::int64_t{0});
  for (std::size_t p = 2 * digit; p < raw_.size(); p += step) {
    lo = std::min(lo, raw_[p]);
    hi = std::max(hi, raw_[p + 1]);
  }
  if (raw_.empty()) return 1;
  const auto range = static_cast<std::size_t>(hi - lo) + 1;
  auto for_each_bound = [&](auto&& bound) {
    for (std::size_t p = 2 * digit; p < raw_.size(); p += step) bound(p), bound(p + 1);
  };
  if (range <= raw_.size() + kSmallRange) {
    std::vector<std::uint32_t> number(range, 0);
    for_each_bound([&](std::size_t p) { number[raw_[p] - lo] = 1; });
    std::uint32_t next = 0;
    for (std::uint32_t& entry : number) entry = entry != 0 ? next++ : 0;
    for_each_bound([&](std::size_t p) { pieces_[p] = number[raw_[p] - lo]; });
    return next;
  }
  std::vector<std::int64_t> cuts;
  for_each_bound([&](std::size_t p) { cuts.push_back(raw_[p]); });
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for_each_bound([&](std::size_t p) {
    pieces_[p] = static_cast<std::uint32_t>(std::lower_bound(cuts.begin(), cuts.end(), raw_[p]) - cuts.begin());
  });
  return cuts.size();
}

// False where there would be too many cells.
bool CellSpace::cut() {
  const std::size_t digits = radix_.size();
  pieces_.resize(raw_.size());
  intervals_.clear();
  cells_ = 1;
  for (std::size_t d = 0; d < digits; ++d) {
    intervals_.push_back(std::max<std::size_t>(number_cuts(d), 2) - 1);
    cells_ *= intervals_.back();
    if (digits > 1 && cells_ > kMaxCells) return false;
  }
  return true;
}

}  // namespace megakittens::schedule
