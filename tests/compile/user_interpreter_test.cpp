// The example's device half in an interpreter of its own: it compiles for both architectures to what may run, and a
// half that does not says where.
#include <gmock/gmock.h>

#include "jit/interpreter.hpp"
#include "support/nvrtc.hpp"
#include "support/user_type.hpp"

namespace megakittens::jit {
namespace {

using testing::AllOf;
using testing::HasSubstr;

ops::DeviceHalf rms_norm() {
  const std::filesystem::path path = std::filesystem::path(MK_SOURCE_DIR) / "examples/rms_norm/rms_norm.cuh";
  return {.name = "rms_norm", .structure = "RmsNorm", .path = path, .icode = 900, .hash = "example"};
}

void expect_fit(Architecture architecture, uint32_t registers) {
  const ops::DeviceHalf half = rms_norm();
  const CompileResult result = compile(interpreter_request(architecture, {&half, 1}));
  ASSERT_EQ(result.functions.size(), 1u) << result.log;
  EXPECT_EQ(result.functions[0].name, interpreter_entry(architecture));
  EXPECT_EQ(result.functions[0].spill_store_bytes, 0u);
  EXPECT_EQ(result.functions[0].stack_bytes, 0u);
  EXPECT_LE(result.functions[0].registers, registers);
}

TEST(UserInterpreter, the_example_compiles_for_hopper_without_spills) {
  MK_NEEDS_NVRTC();
  expect_fit(Architecture::sm_90a, 168);
}

TEST(UserInterpreter, the_example_compiles_for_blackwell_without_spills) {
  MK_NEEDS_NVRTC();
  expect_fit(Architecture::sm_100a, 128);
}

TEST(UserInterpreter, a_half_that_does_not_compile_shows_the_users_file_and_line) {
  MK_NEEDS_NVRTC();
  const test::UserTypes types;
  types.write_device_half(test::doubled_device_half("x * two"));
  const ops::DeviceHalf half{
      .name = "doubled", .structure = "Doubled", .path = types.folder / "doubled.cuh", .icode = 900, .hash = "broken"};
  EXPECT_THAT(test::text_of_error<CompileError>([&] { interpreter_cubin(Architecture::sm_90a, {&half, 1}); }),
              AllOf(HasSubstr("the interpreter with doubled does not compile for sm_90a"),
                    HasSubstr((types.folder / "doubled.cuh(18)").string()), HasSubstr("two")));
}

}  // namespace
}  // namespace megakittens::jit
