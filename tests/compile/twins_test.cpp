// The GPU's half of the twin tests compiles here, with the sources that the library carries, where no GPU is.
#include <gtest/gtest.h>

#include <set>

#include "jit/compile.hpp"
#include "support/nvrtc.hpp"
#include "support/twins/compile.hpp"

namespace megakittens::test {
namespace {

class Twins : public testing::TestWithParam<TwinGroup> {};

TEST_P(Twins, compile_for_hopper_into_every_kernel_that_a_case_names) {
  MK_NEEDS_NVRTC();
  const jit::CompileResult result = jit::compile(twin_request(GetParam()));
  std::set<std::string> kernels;
  for (const jit::FunctionUsage& usage : result.functions) kernels.insert(usage.name);
  for (const TwinCase& twin : GetParam().cases()) EXPECT_TRUE(kernels.contains(twin.kernel)) << twin.kernel;
}

INSTANTIATE_TEST_SUITE_P(All, Twins, testing::ValuesIn(twin_groups()),
                         [](const auto& group) { return group.param.name; });

}  // namespace
}  // namespace megakittens::test
