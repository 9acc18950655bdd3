#include <algorithm>

#include "ir/reference.hpp"

namespace megakittens::ir {
namespace {

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 8;
constexpr std::int64_t kDepth = 256;

/// acc[kRows][kColumns] over one block of k, in registers. `a` has pitch `pitch`; `b` is packed, kColumns a row.
void multiply_block(const float* a, std::int64_t pitch, const float* b, std::int64_t depth, float* acc) {
  float sum[kRows][kColumns] = {};
  for (std::int64_t k = 0; k < depth; ++k)
    for (std::int64_t i = 0; i < kRows; ++i)
      for (std::int64_t j = 0; j < kColumns; ++j) sum[i][j] += a[i * pitch + k] * b[k * kColumns + j];
  for (std::int64_t i = 0; i < kRows; ++i)
    for (std::int64_t j = 0; j < kColumns; ++j) acc[i * kColumns + j] = sum[i][j];
}

}  // namespace

void reference_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k) {
  std::int64_t padded_rows = (m + kRows - 1) / kRows * kRows;
  std::int64_t strips = (n + kColumns - 1) / kColumns;
  std::vector<double> total(static_cast<std::size_t>(m * n), 0.0);
  std::vector<float> left(static_cast<std::size_t>(padded_rows * kDepth));
  std::vector<float> strip(static_cast<std::size_t>(kDepth * kColumns));
  for (std::int64_t k0 = 0; k0 < k; k0 += kDepth) {
    std::int64_t depth = std::min(kDepth, k - k0);
    for (std::int64_t i = 0; i < m; ++i) std::copy_n(a + i * k + k0, depth, left.data() + i * kDepth);
    for (std::int64_t s = 0; s < strips; ++s) {
      std::int64_t columns = std::min(kColumns, n - s * kColumns);
      std::fill(strip.begin(), strip.end(), 0.0F);
      for (std::int64_t d = 0; d < depth; ++d)
        std::copy_n(b + (k0 + d) * n + s * kColumns, columns, strip.data() + d * kColumns);
      for (std::int64_t i0 = 0; i0 < m; i0 += kRows) {
        float acc[kRows * kColumns];
        multiply_block(left.data() + i0 * kDepth, kDepth, strip.data(), depth, acc);
        for (std::int64_t i = 0; i < std::min(kRows, m - i0); ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            total[static_cast<std::size_t>((i0 + i) * n + s * kColumns + j)] += acc[i * kColumns + j];
      }
    }
  }
  for (std::int64_t i = 0; i < m * n; ++i) c[i] = static_cast<float>(total[static_cast<std::size_t>(i)]);
}

}  // namespace megakittens::ir
