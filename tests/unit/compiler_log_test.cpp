#include "jit/compile.hpp"

#include <gmock/gmock.h>

namespace megakittens::jit {
namespace {

constexpr const char* kLog =
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to x\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
    "ptxas info    : Function properties for k\n"
    "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 30 registers, used 2 barriers, 16 bytes cumulative stack size, 400 bytes smem\n"
    "ptxas info    : Function properties for helper\n"
    "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n";

TEST(CompilerLog, gives_the_figures_of_each_function) {
  const std::vector<FunctionUsage> usage = parse_usage(kLog);
  ASSERT_EQ(usage.size(), 2u);
  EXPECT_EQ(usage[0].name, "k");
  EXPECT_TRUE(usage[0].entry);
  EXPECT_EQ(usage[0].registers, 30u);
  EXPECT_EQ(usage[0].barriers, 2u);
  EXPECT_EQ(usage[0].stack_bytes, 16u);
  EXPECT_EQ(usage[0].spill_store_bytes, 8u);
  EXPECT_EQ(usage[0].spill_load_bytes, 12u);
  EXPECT_EQ(usage[0].static_shared_bytes, 400u);
  EXPECT_EQ(usage[1].name, "helper");
  EXPECT_FALSE(usage[1].entry);
}

TEST(CompilerLog, refuses_serialised_products_and_spills) {
  EXPECT_THAT(refused_lines(kLog), testing::ElementsAre(testing::HasSubstr("C7510"),
                                                        testing::HasSubstr("function 'k' spills registers: 8 bytes")));
  EXPECT_THAT(refused_lines("ptxas info : (C7519) warpgroup.arrive is injected\n"), testing::IsEmpty());
  EXPECT_THAT(refused_lines("ptxas info : (C7508) setmaxnreg ignored"), testing::SizeIs(1));
}

}  // namespace
}  // namespace megakittens::jit
