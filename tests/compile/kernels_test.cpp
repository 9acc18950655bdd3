// Kernels that call every instruction and the whole vocabulary assemble; bad ones are refused with the compiler's
// words.
#include <gmock/gmock.h>

#include "jit/compile.hpp"
#include "support/nvrtc.hpp"

namespace megakittens::jit {
namespace {

using testing::HasSubstr;

CompileRequest request_for(Architecture architecture, const std::string& source, const std::string& name) {
  CompileRequest request;
  request.source = source;
  request.name = name;
  request.architecture = architecture;
  request.include_folders = {MK_SOURCE_DIR "/src", MK_SOURCE_DIR "/tests"};
  return request;
}

CompileResult compile_file(Architecture architecture, const std::string& name) {
  const std::string source = read_text(std::string(MK_SOURCE_DIR "/tests/compile/kernels/") + name);
  return compile(request_for(architecture, source, name));
}

// The message with which a source is refused, or nothing.
std::string refusal(Architecture architecture, const std::string& source) {
  try {
    compile(request_for(architecture, source, "planted.cu"));
  } catch (const CompileError& error) {
    return error.what();
  }
  return "";
}

TEST(Kernels, every_common_instruction_assembles_for_hopper) {
  MK_NEEDS_NVRTC();
  const CompileResult result = compile_file(Architecture::sm_90a, "every_instruction.cu");
  EXPECT_EQ(result.functions.size(), 3u) << result.log;
  EXPECT_GT(result.cubin.size(), 1000u);
}

TEST(Kernels, every_common_instruction_assembles_for_blackwell) {
  MK_NEEDS_NVRTC();
  EXPECT_EQ(compile_file(Architecture::sm_100a, "every_instruction.cu").functions.size(), 3u);
}

TEST(Kernels, every_wgmma_assembles_for_hopper_without_a_remark) {
  MK_NEEDS_NVRTC();
  EXPECT_EQ(compile_file(Architecture::sm_90a, "every_wgmma.cu").functions.size(), 52u);
}

TEST(Kernels, every_tcgen05_assembles_for_blackwell) {
  MK_NEEDS_NVRTC();
  EXPECT_EQ(compile_file(Architecture::sm_100a, "every_tcgen05.cu").functions.size(), 2u);
}

TEST(Kernels, the_vocabulary_compiles_for_both_architectures) {
  MK_NEEDS_NVRTC();
  compile_file(Architecture::sm_90a, "every_vocabulary.cu");
  compile_file(Architecture::sm_100a, "every_vocabulary.cu");
}

TEST(Kernels, a_compile_error_names_the_file_and_carries_the_compilers_text) {
  MK_NEEDS_NVRTC();
  const std::string message = refusal(Architecture::sm_90a, "__global__ void k() { undeclared = 1; }");
  EXPECT_THAT(message, HasSubstr("planted.cu does not compile for sm_90a"));
  EXPECT_THAT(message, HasSubstr("identifier \"undeclared\" is undefined"));
}

TEST(Kernels, wgmma_in_a_function_that_is_called_is_refused_with_the_code) {
  MK_NEEDS_NVRTC();
  const std::string message = refusal(Architecture::sm_90a, R"(
#include "device/machine.cuh"
using namespace megakittens;
__device__ __noinline__ void step(float (&d)[32], uint64_t a, uint64_t b) {
  ptx::wgmma<device::Bf16, 64, false>(d, a, b, true);
}
extern "C" __global__ void __launch_bounds__(128, 1) k(float* out, uint64_t a) {
  float d[32] = {};
  ptx::wgmma_fence();
  step(d, a, a);
  step(d, a + 2, a + 2);
  ptx::wgmma_commit_group();
  ptx::wgmma_wait_group<0>();
  for (int i = 0; i < 32; i++) out[i] = d[i];
})");
  EXPECT_THAT(message, HasSubstr("C7510"));
  EXPECT_THAT(message, HasSubstr("Potential Performance Loss"));
}

TEST(Kernels, a_spill_is_refused_with_its_bytes) {
  MK_NEEDS_NVRTC();
  const std::string message = refusal(Architecture::sm_90a, R"(
extern "C" __global__ void __launch_bounds__(1024, 1) k(float* out, int n) {
  float a[160];
#pragma unroll
  for (int i = 0; i < 160; i++) a[i] = out[37 * i];
  for (int j = 0; j < n; j++) {
    const float b = out[j];
#pragma unroll
    for (int i = 0; i < 160; i++) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a[i]) : "f"(b));
  }
#pragma unroll
  for (int i = 0; i < 160; i++) out[i] = a[i];
})");
  EXPECT_THAT(message, HasSubstr("function 'k' spills registers: "));
  EXPECT_THAT(message, HasSubstr("bytes of spill stores"));
}

TEST(Kernels, a_tensor_core_instruction_of_the_other_architecture_is_refused) {
  MK_NEEDS_NVRTC();
  EXPECT_THAT(refusal(Architecture::sm_100a, R"(
#include "device/machine.cuh"
extern "C" __global__ void k() { megakittens::ptx::wgmma_commit_group(); })"),
              HasSubstr("wgmma"));
  EXPECT_THAT(refusal(Architecture::sm_90a, R"(
#include "device/machine.cuh"
extern "C" __global__ void k() { megakittens::ptx::tcgen05_wait_st(); })"),
              HasSubstr("tcgen05"));
}

TEST(Kernels, usage_comes_from_the_assembler) {
  MK_NEEDS_NVRTC();
  const CompileResult result = compile(request_for(Architecture::sm_90a, R"(
extern "C" __global__ void __launch_bounds__(128, 1) k(int* out) {
  __shared__ int words[100];
  words[threadIdx.x % 100] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = words[99 - threadIdx.x % 100];
})",
                                                   "shared.cu"));
  ASSERT_EQ(result.functions.size(), 1u);
  EXPECT_EQ(result.functions[0].name, "k");
  EXPECT_TRUE(result.functions[0].entry);
  EXPECT_EQ(result.functions[0].static_shared_bytes, 400u);
  EXPECT_GT(result.functions[0].registers, 0u);
  EXPECT_EQ(result.functions[0].barriers, 1u);
}

TEST(Kernels, planted_machine_code_above_the_bound_is_refused_with_its_size) {
  MK_NEEDS_NVRTC();
  CompileRequest request = request_for(
      Architecture::sm_90a, "extern \"C\" __global__ void planted(float* x) { x[threadIdx.x] *= 2; }", "planted.cu");
  const std::size_t bytes = compile(request).cubin.size();
  request.max_code_bytes = bytes;
  EXPECT_NO_THROW(compile(request));
  request.max_code_bytes = bytes - 1;
  try {
    compile(request);
    ADD_FAILURE() << "it is not refused";
  } catch (const CompileError& error) {
    EXPECT_THAT(error.what(), HasSubstr(fmt::format("but into {} bytes of machine code", bytes)));
  }
}

}  // namespace
}  // namespace megakittens::jit
