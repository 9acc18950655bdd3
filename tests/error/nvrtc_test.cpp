#include "jit/nvrtc.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "support/error.hpp"

namespace megakittens::jit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Sets the variable for one test.
struct NvrtcVariable {
  explicit NvrtcVariable(const char* value) { setenv("MEGAKITTENS_NVRTC", value, 1); }
  ~NvrtcVariable() { unsetenv("MEGAKITTENS_NVRTC"); }
};

std::string message_of_opening() {
  try {
    open_nvrtc();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Nvrtc, a_library_that_is_not_there_is_named_with_the_variable_and_what_to_install) {
  const NvrtcVariable variable("/nowhere/libnvrtc.so.13");
  EXPECT_THAT(message_of_opening(), AllOf(HasSubstr("/nowhere/libnvrtc.so.13 (environment variable MEGAKITTENS_NVRTC)"),
                                          HasSubstr("nvidia-cuda-nvrtc"), HasSubstr("No such file")));
}

TEST(Nvrtc, a_folder_without_the_library_is_told) {
  const NvrtcVariable variable("/tmp");
  EXPECT_THAT(message_of_opening(), AllOf(HasSubstr("MEGAKITTENS_NVRTC"), HasSubstr("no library found")));
}

TEST(Nvrtc, a_library_of_another_kind_is_told) {
  const NvrtcVariable variable("libm.so.6");
  EXPECT_THAT(message_of_opening(), HasSubstr("it is not an NVRTC library"));
}

TEST(Nvrtc, the_search_ends_at_the_loaders_path) {
  unsetenv("MEGAKITTENS_NVRTC");
  const std::vector<Candidate> candidates = nvrtc_candidates();
  ASSERT_FALSE(candidates.empty());
  EXPECT_EQ(candidates.back().reason, "the loader's path");
}

}  // namespace
}  // namespace megakittens::jit
