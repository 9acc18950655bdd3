#include "runtime/compare.hpp"

#include <algorithm>
#include <cmath>

#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

double root_mean_square(std::span<const float> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    sum += double{value} * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

}  // namespace

double tolerance(program::ElementType type) {
  switch (type) {
    case program::ElementType::bf16:
      return 0x1p-6;
    case program::ElementType::f16:
      return 0x1p-9;
    case program::ElementType::f32:
      return 0x1p-16;
    default:
      return 0;
  }
}

Comparison compare(program::ElementType type, std::span<const float> got, std::span<const float> want, double slack) {
  MK_CHECK(got.size() == want.size(), "{} elements against {}", got.size(), want.size());
  Comparison result{.count = static_cast<std::int64_t>(got.size())};
  const double relative = tolerance(type);
  const double around = root_mean_square(want);
  double sum = 0;
  std::int64_t finite = 0;
  auto show = [&](std::size_t i) {
    result.worst = static_cast<std::int64_t>(i);
    result.got = got[i];
    result.want = want[i];
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool match = false;
    if (std::isfinite(got[i]) && std::isfinite(want[i])) {
      const double error = std::abs(double{got[i]} - double{want[i]});
      match = error <= relative * (std::abs(double{want[i]}) + around) + slack;
      sum += error;
      ++finite;
      if (error > result.largest || result.worst < 0) {
        result.largest = std::max(result.largest, error);
        if (result.mismatches == 0) show(i);
      }
    } else {
      match = got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]));
    }
    if (match) continue;
    if (result.mismatches++ == 0) show(i);
  }
  result.mean = finite == 0 ? 0 : sum / static_cast<double>(finite);
  return result;
}

std::string to_string(const Comparison& comparison) {
  std::string text = fmt::format("largest error {:.3g}, mean {:.3g}", comparison.largest, comparison.mean);
  if (!comparison.ok())
    text += fmt::format("; {} of {} elements differ, first number {}: {} instead of {}", comparison.mismatches,
                        comparison.count, comparison.worst, comparison.got, comparison.want);
  return text;
}

}  // namespace megakittens::runtime
