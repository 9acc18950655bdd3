#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "emulator/launch.hpp"
#include "support/error.hpp"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

struct Call {
  twins::Parameters parameters;
  void (*kernel)(const twins::Parameters&);
};

template <class T>
T element(std::span<const std::byte> bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// Floats as whole numbers in their order, both zeros as 0.
std::int64_t place_of(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits < 0 ? -(std::int64_t{bits} & 0x7fffffff) : bits;
}

bool agree(const Agreement& how, std::uint32_t gpu, std::uint32_t host) {
  if (gpu == host) return true;
  const auto x = std::bit_cast<float>(gpu), y = std::bit_cast<float>(host);
  switch (how.kind) {
    case Agreement::Kind::bits:
      return false;
    case Agreement::Kind::floats:
      return std::isnan(x) && std::isnan(y);
    case Agreement::Kind::halves: {
      auto same = [](std::uint32_t p, std::uint32_t q) {
        auto is_nan = [](std::uint32_t bits) { return (bits & 0x7fffu) > 0x7f80u; };
        return p == q || (is_nan(p) && is_nan(q));
      };
      return same(gpu & 0xffff, host & 0xffff) && same(gpu >> 16, host >> 16);
    }
    case Agreement::Kind::close:
      return std::fabs(x - y) <= how.distance;
    case Agreement::Kind::ulps:
      if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
      if (std::fabs(x) <= FLT_MIN && std::fabs(y) <= FLT_MIN) return true;
      return std::fabs(static_cast<double>(place_of(x) - place_of(y))) <= how.distance;
  }
  return false;
}

}  // namespace

const std::vector<TwinGroup>& twin_groups() {
  static const std::vector<TwinGroup> groups = {
      {"arithmetic", "gpu/twins/arithmetic.cuh", arithmetic_twins},
      {"memory", "gpu/twins/memory.cuh", memory_twins},
      {"warp", "gpu/twins/warp.cuh", warp_twins},
      {"bulk", "gpu/twins/bulk.cuh", bulk_twins},
      {"tensor", "gpu/twins/tensor.cuh", tensor_twins},
      {"barrier", "gpu/twins/barrier.cuh", barrier_twins},
      {"sync", "gpu/twins/sync.cuh", sync_twins},
      {"products", "gpu/twins/wgmma.cuh", product_twins},
  };
  return groups;
}

std::vector<std::byte> random_bytes(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> result(bytes);
  for (std::byte& byte : result) byte = static_cast<std::byte>(random());
  return result;
}

std::vector<std::byte> to_bytes(std::span<const std::uint32_t> words) {
  const auto bytes = std::as_bytes(words);
  return {bytes.begin(), bytes.end()};
}

TwinRun run_on_emulator(const TwinCase& twin, std::uint64_t seed) {
  constexpr std::size_t kAlignment = 256;
  auto aligned = [](const std::vector<std::byte>& from) {
    std::unique_ptr<std::byte[], void (*)(std::byte*)> memory(
        static_cast<std::byte*>(::operator new[](from.size() + kAlignment, std::align_val_t{kAlignment})),
        [](std::byte* p) { ::operator delete[](p, std::align_val_t{kAlignment}); });
    std::memcpy(memory.get(), from.data(), from.size());
    return memory;
  };
  const auto in = aligned(twin.in), out = aligned(twin.out);
  Call call{{}, twin.host};
  call.parameters.in = reinterpret_cast<const char*>(in.get());
  call.parameters.out = reinterpret_cast<char*>(out.get());
  call.parameters.a = twin.a, call.parameters.b = twin.b, call.parameters.c = twin.c, call.parameters.d = twin.d;
  std::copy(twin.at.begin(), twin.at.end(), call.parameters.at);
  if (twin.map) {
    device::TensorMapFields fields = twin.map->fields;
    fields.magic = device::kTensorMapMagic;
    fields.base += reinterpret_cast<std::uintptr_t>(twin.map->of_output ? out.get() : in.get());
    std::memcpy(static_cast<void*>(&call.parameters.map), &fields, sizeof(fields));
    if (twin.map->in_memory) std::memcpy(in.get(), &call.parameters.map, sizeof(call.parameters.map));
  }
  emulator::LaunchConfig config;
  config.grid = twin.grid;
  config.cluster = twin.cluster;
  config.warps = twin.warps;
  config.shared_bytes = twin.shared_bytes;
  config.seed = seed;
  config.buffers = {{"in", in.get(), twin.in.size(), emulator::Contents::kReadOnly},
                    {"out", out.get(), twin.out.size(), emulator::Contents::kInitialised}};
  TwinRun result;
  result.report = emulator::run(
      config,
      [](const void* p) {
        const Call& made = *static_cast<const Call*>(p);
        made.kernel(made.parameters);
      },
      &call);
  result.out.assign(out.get(), out.get() + twin.out.size());
  return result;
}

std::string disagreement(const TwinCase& twin, std::span<const std::byte> gpu, std::span<const std::byte> host) {
  MK_CHECK(gpu.size() == host.size() && gpu.size() % 4 == 0, "outputs of {} and {} bytes", gpu.size(), host.size());
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < gpu.size() / 4; ++i) {
    const auto ours = element<std::uint32_t>(gpu, i), theirs = element<std::uint32_t>(host, i);
    if (agree(twin.agreement, ours, theirs) || ++count > 1) continue;
    text = fmt::format("{}: word {} is {:#010x} ({}) on the GPU, {:#010x} ({}) on the emulator", twin.name, i, ours,
                       std::bit_cast<float>(ours), theirs, std::bit_cast<float>(theirs));
  }
  return count == 0 ? text : fmt::format("{}; {} of {} words", text, count, gpu.size() / 4);
}

}  // namespace megakittens::test
