// Every instruction of the vocabulary on a Hopper GPU against its twin on the host: the same kernels, the same bytes.
// Not run: what only Blackwell has (tcgen05, and bulk tensor copies of a pair of CTAs).
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "runtime/cuda_device.hpp"
#include "runtime/cuda_memory.hpp"
#include "runtime/cuda_stream.hpp"
#include "support/device_run.hpp"
#include "support/error.hpp"
#include "support/twins/compile.hpp"

namespace megakittens::test {
namespace {

using runtime::CuFunction;
using runtime::DeviceMemory;

constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr int kClusterDimension = 4;       // CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION

/// The driver's own form of a map over memory at `base`.
device::TensorMap encode(const device::TensorMapFields& fields, runtime::CuPointer base) {
  device::TensorMap map{};
  std::uint64_t sizes[5] = {};
  unsigned box[5] = {}, steps[5] = {};
  for (int d = 0; d < fields.rank; ++d) {
    sizes[d] = fields.dim(d);
    box[d] = fields.box[d];
    steps[d] = fields.element_strides[d];
  }
  MK_CUDA(tensor_map_encode_tiled(&map, static_cast<int>(fields.type), fields.rank,
                                  reinterpret_cast<void*>(base + fields.base), sizes, fields.strides, box, steps, 0,
                                  static_cast<int>(fields.swizzle), static_cast<int>(fields.l2_promotion),
                                  static_cast<int>(fields.fill)));
  return map;
}

class GpuTwins : public testing::TestWithParam<TwinGroup> {
 protected:
  void SetUp() override {
    const std::string problem = gpu_problem();
    if (!problem.empty()) {
      if (std::getenv("MEGAKITTENS_REQUIRE_GPU") != nullptr) FAIL() << problem;
      GTEST_SKIP() << problem;
    }
    const std::string cubin = jit::compile(twin_request(GetParam())).cubin;
    MK_CUDA(module_load_data(&module_, cubin.data()));
    stream_.emplace();
  }

  /// The output, or ExecutionError.
  std::vector<std::byte> run(const TwinCase& twin) {
    const DeviceMemory in(twin.in.size()), out(twin.out.size());
    twins::Parameters parameters{};
    parameters.in = in.as<const char>();
    parameters.out = out.as<char>();
    parameters.a = twin.a, parameters.b = twin.b, parameters.c = twin.c, parameters.d = twin.d;
    std::copy(twin.at.begin(), twin.at.end(), parameters.at);
    const runtime::CudaDevice& device = runtime::CudaDevice::get(0);
    device.upload(in.address(), twin.in.data(), twin.in.size());
    device.upload(out.address(), twin.out.data(), twin.out.size());
    if (twin.map) {
      parameters.map = encode(twin.map->fields, (twin.map->of_output ? out : in).address());
      if (twin.map->in_memory) device.upload(in.address(), &parameters.map, sizeof(parameters.map));
    }
    launch(twin, parameters);
    std::vector<std::byte> result(twin.out.size());
    device.download(result.data(), out.address(), result.size());
    return result;
  }

  /// In a process of its own, because the context is lost with the launch.
  void expect_failure(const TwinCase& twin) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    constexpr int kFailed = 42;
    auto outcome = [&] {
      try {
        run(twin);
      } catch (const ExecutionError&) {
        return kFailed;
      }
      return 0;
    };
    EXPECT_EXIT(std::_Exit(outcome()), testing::ExitedWithCode(kFailed), "") << twin.name;
  }

 private:
  void launch(const TwinCase& twin, twins::Parameters& parameters) {
    CuFunction function = nullptr;
    MK_CUDA(module_get_function(&function, module_, twin.kernel.c_str()));
    MK_CUDA(func_set_attribute(function, kMaxDynamicSharedBytes, static_cast<int>(twin.shared_bytes)));
    runtime::CuLaunchAttribute cluster{};
    cluster.id = kClusterDimension;
    cluster.value.cluster = {twin.cluster, 1, 1};
    runtime::CuLaunchConfig config{};
    config.grid[0] = twin.grid;
    config.block[0] = twin.warps * 32;
    config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
    config.shared_bytes = twin.shared_bytes;
    config.stream = stream_->get();
    config.attributes = &cluster;
    config.attribute_count = 1;
    void* arguments[] = {&parameters};
    MK_CUDA(launch_kernel(&config, function, arguments, nullptr));
    MK_CUDA(stream_synchronize(stream_->get()));
  }

  runtime::CuModule module_ = nullptr;
  std::optional<runtime::Stream> stream_;  // once the context is current
};

TEST_P(GpuTwins, do_on_the_gpu_what_they_do_on_the_host) {
  int different = 0;
  const std::vector<TwinCase> cases = GetParam().cases();
  for (const TwinCase& twin : cases) {
    if (twin.fails) {
      expect_failure(twin);
      continue;
    }
    std::vector<std::byte> gpu;
    // A trap, which an expired wait is too, ends the context; nothing after it would say anything.
    ASSERT_NO_THROW(gpu = run(twin)) << twin.name;
    const TwinRun host = run_on_emulator(twin);
    ASSERT_TRUE(host.report.ok()) << twin.name << "\n" << host.report.text();
    const std::string text = disagreement(twin, gpu, host.out);
    EXPECT_EQ(text, "");
    different += text.empty() ? 0 : 1;
  }
  EXPECT_EQ(different, 0) << "of " << cases.size() << " cases";
}

INSTANTIATE_TEST_SUITE_P(All, GpuTwins, testing::ValuesIn(twin_groups()),
                         [](const auto& group) { return group.param.name; });

}  // namespace
}  // namespace megakittens::test
