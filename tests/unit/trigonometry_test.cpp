// The device's sine and cosine, on the host: every 9,973rd float.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "device/core/trigonometry.cuh"

namespace megakittens::device {
namespace {

/// The error in units of the last place of what is wanted.
double units(double want, float got) {
  const float size = std::fabs(static_cast<float>(want));
  return std::fabs(want - static_cast<double>(got)) /
         static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity()) - size);
}

TEST(Trigonometry, is_right_for_every_size_of_argument) {
  double worst = 0;
  for (std::uint32_t bits = 1; bits < 0x7f800000U; bits += 9973) {
    const auto x = std::bit_cast<float>(bits);
    worst = std::max(
        {worst, units(std::sin(static_cast<double>(x)), sine(x)), units(std::cos(static_cast<double>(x)), cosine(x))});
    EXPECT_EQ(sine(-x), -sine(x));
    EXPECT_EQ(cosine(-x), cosine(x));
  }
  EXPECT_LT(worst, 2.5);
  EXPECT_TRUE(std::isnan(sine(std::numeric_limits<float>::infinity())));
  EXPECT_EQ(sine(0.0F), 0.0F);
}

}  // namespace
}  // namespace megakittens::device
