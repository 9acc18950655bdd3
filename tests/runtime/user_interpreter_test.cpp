// Which interpreter a program loads on a GPU, on stand-ins for the driver and for NVRTC.
#include <gmock/gmock.h>

#include "jit/interpreter.hpp"
#include "ops/user/registry.hpp"
#include "runtime/cuda_device.hpp"
#include "runtime/prepare.hpp"
#include "support/stand_in.hpp"
#include "support/user_type.hpp"

namespace megakittens::test {
namespace {

TEST(UserInterpreter, a_program_with_users_types_loads_one_of_its_own_and_others_the_standard_one) {
  const StandInDriver driver;
  const UserTypes types;
  ops::register_user_type(types.doubled());
  const program::Program program = runtime::prepare(doubled_graph(), {.sms = 4, .cluster = 1});
  program::Program standard = program;
  standard.types.clear();
  runtime::CudaDevice& gpu = runtime::CudaDevice::get(0);

  const runtime::LoadedInterpreter* usual = &gpu.interpreter(standard);
  const std::uint64_t before = jit::compilation_count();
  EXPECT_EQ(&gpu.interpreter(standard), usual);
  EXPECT_EQ(jit::compilation_count(), before);
  const runtime::LoadedInterpreter* own = &gpu.interpreter(program);
  EXPECT_NE(own, usual);
  EXPECT_EQ(jit::compilation_count(), before + 1);
  EXPECT_EQ(&gpu.interpreter(program), own);
  EXPECT_EQ(jit::compilation_count(), before + 1);
}

TEST(UserInterpreter, its_machine_code_is_kept_under_a_key_of_the_users_files) {
  const StandInDriver driver;
  const UserTypes types;
  types.write_device_half(doubled_device_half("2.0f * x"));  // nothing this process has compiled
  auto halves = [&] {
    const ops::UserType& type = ops::register_user_type(types.doubled());
    std::vector<ops::DeviceHalf> list{type.device_half()};
    ops::unregister_user_type("doubled");
    return list;
  };
  const program::Architecture hopper = program::Architecture::sm_90a;
  EXPECT_EQ(jit::interpreter_cubin(hopper, halves()).origin, "compiled");
  EXPECT_EQ(jit::interpreter_cubin(hopper, halves()).origin, "cached");
  types.write_device_half(doubled_device_half("x + x"));
  EXPECT_EQ(jit::interpreter_cubin(hopper, halves()).origin, "compiled");
}

TEST(UserInterpreter, its_machine_code_may_be_longer_than_the_standard_ones_but_not_by_any_amount) {
  const program::Architecture hopper = program::Architecture::sm_90a;
  const ops::DeviceHalf half{
      .name = "doubled", .structure = "Doubled", .path = "/doubled.cuh", .icode = 900, .hash = "some"};
  const std::size_t standard = jit::interpreter_request(hopper).max_code_bytes;
  EXPECT_GT(standard, 0u);
  EXPECT_GT(jit::interpreter_request(hopper, {&half, 1}).max_code_bytes, standard);
}

}  // namespace
}  // namespace megakittens::test
