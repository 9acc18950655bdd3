#include "support/accuracy.hpp"

#include <cmath>
#include <cstddef>
#include <limits>

#include "support/error.hpp"

namespace megakittens::test {
namespace {

constexpr double kFactor = 1.1;
constexpr double kSumOrder = 0x1p-18;

}  // namespace

std::string worse_than_eager(std::span<const float> got, std::span<const float> eager, std::span<const float> exact) {
  MK_CHECK(got.size() == exact.size() && eager.size() == exact.size(), "{}, {} and {} elements", got.size(),
           eager.size(), exact.size());
  double ours = 0, theirs = 0, size = 0;
  std::size_t count = 0;
  auto square = [](double x) { return x * x; };
  for (std::size_t i = 0; i < exact.size(); ++i) {
    if (!std::isfinite(eager[i]) || !std::isfinite(exact[i])) continue;
    ours += std::isfinite(got[i]) ? square(double{got[i]} - exact[i]) : std::numeric_limits<double>::infinity();
    theirs += square(double{eager[i]} - exact[i]);
    size += square(exact[i]);
    ++count;
  }
  if (count == 0) return {};
  auto root = [&](double sum) { return std::sqrt(sum / static_cast<double>(count)); };
  if (root(ours) <= kFactor * root(theirs) + kSumOrder * root(size)) return {};
  return fmt::format("the error against fp32 throughout is {:.3g}, eager's {:.3g}, and the values {:.3g}", root(ours),
                     root(theirs), root(size));
}

}  // namespace megakittens::test
