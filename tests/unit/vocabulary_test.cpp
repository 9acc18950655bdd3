#include <gtest/gtest.h>

#include "compile/kernels/vocabulary.cuh"

namespace megakittens::device {

// +-x + (1 or 2), and 3 and 1 from the last line; every other term is zero.
TEST(Vocabulary, the_source_that_compiles_for_the_gpu_gives_the_expected_values_on_the_host) {
  Lanes<float> x;
  for (uint32_t l = 0; l < kWarpLanes; l++) x.v[l] = 0.25f * static_cast<float>(l) - 3;
  uint32_t runs = 0;
  const Lanes<float> result = use_vocabulary(x, runs);
  EXPECT_EQ(runs, 1u);
  for (uint32_t l = 0; l < kWarpLanes; l++)
    EXPECT_NEAR(result.v[l], (l % 2 == 0 ? x.v[l] + 1 : -x.v[l] + 2) + 4, 0.05f) << "lane " << l;
}

}  // namespace megakittens::device
