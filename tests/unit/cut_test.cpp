// Into which tiles products are cut.
#include "ops/gemm/cut.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"

namespace megakittens::ops::gemm {
namespace {

using ir::DType;
using ir::Handle;

/// x @ w @ w ...: the first one's cut.
Cut cut_of(std::int64_t m, std::int64_t n, std::int64_t k, int products, const PlanOptions& options = {}) {
  ir::Builder builder("chain");
  Handle x = builder.input("x", DType::bf16, {m, k});
  for (int i = 0; i < products; ++i)
    x = builder.matmul(x, builder.input(fmt::format("w{}", i), DType::bf16, {i == 0 ? k : n, n}));
  builder.output(x);
  const ir::Graph graph = builder.build();
  return cut_for(graph, std::get<Space>(make_space(graph, graph.nodes[0])), options);
}

PlanOptions on(program::Architecture architecture, std::uint32_t sms, std::uint32_t cluster) {
  PlanOptions options;
  options.config = {.architecture = architecture, .sms = sms, .cluster = cluster};
  return options;
}

// Each was the fastest of all cuts that were measured, or within 2 %, on an H200.
TEST(Cut, a_product_alone_takes_the_tiles_that_were_measured_to_be_the_fastest) {
  struct Case {
    std::int64_t m, n, k;
    TileName tile;
  };
  for (const Case& one : {Case{512, 8192, 4096, TileName::gemm},
                          {512, 3072, 1024, TileName::gemm_medium},
                          {512, 3072, 4096, TileName::gemm_medium},
                          {2048, 3072, 1024, TileName::gemm_medium},
                          {2048, 3072, 4096, TileName::gemm_medium},
                          {1024, 1024, 1024, TileName::gemm_divided},
                          {256, 4096, 4096, TileName::gemm_divided},
                          {128, 4096, 1024, TileName::gemm_narrow},
                          {128, 4096, 4096, TileName::gemm_narrow}}) {
    const Cut cut = cut_of(one.m, one.n, one.k, 1);
    EXPECT_EQ(cut.upper, one.tile) << one.m << " " << one.n << " " << one.k;
    EXPECT_EQ(cut.rows, one.m) << one.m << " " << one.n << " " << one.k;
  }
}

// The same of these.
TEST(Cut, a_product_alone_ends_in_smaller_tiles_where_its_last_round_would_be_nearly_empty) {
  struct Case {
    std::int64_t m, n, k;
    TileName upper;
    std::int64_t rows;
    TileName lower;
  };
  // Of the first eleven rows of twelve tiles are one round over 132 SMs.
  for (const Case& one : {Case{1536, 3072, 4096, TileName::gemm, 1408, TileName::gemm_narrow},
                          {1536, 3072, 1024, TileName::gemm, 1408, TileName::gemm_narrow},
                          {3072, 3072, 1024, TileName::gemm, 2688, TileName::gemm_divided},
                          {3072, 3072, 4096, TileName::gemm, 2688, TileName::gemm_divided},
                          {1536, 1536, 4096, TileName::gemm_medium, 1152, TileName::gemm_narrow},
                          {1280, 5120, 4096, TileName::gemm_medium, 1152, TileName::gemm_narrow},
                          {2304, 2304, 4096, TileName::gemm_medium, 1792, TileName::gemm_divided}}) {
    const Cut cut = cut_of(one.m, one.n, one.k, 1);
    EXPECT_EQ(cut.upper, one.upper) << one.m << " " << one.n << " " << one.k;
    EXPECT_EQ(cut.rows, one.rows) << one.m << " " << one.n << " " << one.k;
    EXPECT_EQ(cut.lower, one.lower) << one.m << " " << one.n << " " << one.k;
  }
}

TEST(Cut, a_product_among_others_takes_the_tiles_that_were_the_fastest_in_a_chain_of_three) {
  struct Case {
    std::int64_t m, n;
    TileName tile;
  };
  for (const Case& one : {Case{1536, 3072, TileName::gemm_medium},
                          {3072, 3072, TileName::gemm},
                          {1536, 1536, TileName::gemm_medium},
                          {2304, 2304, TileName::gemm},
                          {3072, 1536, TileName::gemm_medium},
                          {3072, 2048, TileName::gemm_medium},
                          {1024, 1024, TileName::gemm_divided},
                          {768, 1536, TileName::gemm_medium},
                          {2048, 1536, TileName::gemm_medium},
                          {512, 2048, TileName::gemm_divided},
                          {512, 3072, TileName::gemm_medium}}) {
    const Cut cut = cut_of(one.m, one.n, one.n, 3);
    EXPECT_EQ(cut.upper, one.tile) << one.m << " " << one.n;
    EXPECT_EQ(cut.rows, one.m);
  }
}

TEST(Cut, many_rounds_are_of_the_largest_tiles) {
  for (int products : {1, 3}) {
    const Cut cut = cut_of(4096, 4096, 4096, products);
    EXPECT_EQ(cut.upper, TileName::gemm);
    EXPECT_EQ(cut.rows, 4096);
  }
}

// Such programs are refused later: nothing may overflow, nor take more time with every row.
TEST(Cut, products_beyond_any_memory_have_one_too) {
  constexpr std::int64_t kMillions = std::int64_t{1} << 24;
  for (int products : {1, 3}) {
    EXPECT_EQ(cut_of(kMillions, kMillions, kMillions, products).upper, TileName::gemm);
    EXPECT_EQ(cut_of(program::kMaxExtent, 256, 256, products).rows, program::kMaxExtent);
  }
}

TEST(Cut, no_pair_gets_tiles_of_two_shapes) {
  int in_two = 0;
  for (std::int64_t m = 136; m < 2400; m += 104)
    for (std::int64_t n = 136; n < 2400; n += 136) {
      const Cut cut = cut_of(m, n, 2048, 1, on(program::Architecture::sm_90a, 132, 2));
      if (cut.rows == m) continue;
      ++in_two;
      ASSERT_GT(cut.rows, 0);
      ASSERT_EQ(cut.rows % tile_of(cut.upper).rows, 0);
      EXPECT_EQ(
          cut.rows / tile_of(cut.upper).rows * ((n + tile_of(cut.upper).columns - 1) / tile_of(cut.upper).columns) % 2,
          0)
          << m << " " << n;
    }
  EXPECT_GT(in_two, 20);
}

TEST(Cut, a_tile_that_is_asked_for_is_taken_where_the_architecture_has_it) {
  PlanOptions options = on(program::Architecture::sm_90a, 132, 2);
  options.tile = "gemm_narrow";
  for (int products : {1, 3}) {
    const Cut cut = cut_of(4096, 4096, 4096, products, options);
    EXPECT_EQ(cut.upper, TileName::gemm_narrow);
    EXPECT_EQ(cut.rows, 4096);
  }
  for (const char* absent : {"gemm_blackwell", "no such tile"}) {
    options.tile = absent;
    EXPECT_THROW(cut_of(64, 64, 64, 1, options), OptionError) << absent;
  }
}

TEST(Cut, the_seeds_tiling_and_blackwell_know_one_tile) {
  PlanOptions seed = on(program::Architecture::sm_90a, 132, 2);
  seed.tiling = Tiling::seed;
  EXPECT_EQ(cut_of(1536, 3072, 3072, 1, seed).rows, 1536);
  EXPECT_EQ(cut_of(64, 64, 64, 1, seed).upper, TileName::gemm);
  const Cut blackwell = cut_of(1536, 3072, 3072, 1, on(program::Architecture::sm_100a, 148, 2));
  EXPECT_EQ(blackwell.upper, TileName::gemm_blackwell);
  EXPECT_EQ(blackwell.rows, 1536);
}

}  // namespace
}  // namespace megakittens::ops::gemm
