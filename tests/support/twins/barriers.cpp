#include "gpu/twins/barrier.cuh"
#include "gpu/twins/sync.cuh"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

constexpr std::uint32_t kCtas = 8;

TwinCase simple(const std::string& name, void (*host)(const twins::Parameters&), std::uint32_t a, std::uint32_t b = 0) {
  TwinCase twin;
  twin.kernel = name;
  twin.name = fmt::format("{}, {} {}", name, a, b);
  twin.host = host;
  twin.a = a;
  twin.b = b;
  twin.shared_bytes = 8192;
  twin.in = random_bytes(16384, 5);
  twin.out.assign(16384, std::byte{0});
  return twin;
}

}  // namespace

std::vector<TwinCase> barrier_twins() {
  std::vector<TwinCase> cases;
  for (const std::uint32_t count : {1u, 2u, 5u, 32u})
    cases.push_back(simple("twin_mbarrier_counts", twins::twin_mbarrier_counts, count, 3));
  for (const std::uint32_t bytes : {16u, 128u, 4096u})
    cases.push_back(simple("twin_mbarrier_bytes", twins::twin_mbarrier_bytes, bytes));
  cases.push_back(simple("twin_mbarrier_ring", twins::twin_mbarrier_ring, 24));
  cases.back().warps = 4;
  cases.push_back(simple("twin_named_barrier", twins::twin_named_barrier, 20));
  cases.back().warps = 4;
  cases.push_back(simple("twin_mbarrier_cluster", twins::twin_mbarrier_cluster, 16));
  cases.back().grid = cases.back().cluster = 2;
  cases.push_back(simple("twin_registers", twins::twin_registers, 0));
  cases.back().warps = 12;
  return cases;
}

std::vector<TwinCase> sync_twins() {
  std::vector<TwinCase> cases;
  auto add = [&](TwinCase twin) {
    twin.grid = kCtas;
    cases.push_back(std::move(twin));
  };
  for (std::uint32_t how = 0; how < 4; ++how) add(simple("twin_counter", twins::twin_counter, how));
  add(simple("twin_atomics", twins::twin_atomics, 0));
  add(simple("twin_chain", twins::twin_chain, 0));
  for (const std::uint32_t mask : {0xffffffffu, 0x00ff0f01u})
    add(simple("twin_flagged", twins::twin_flagged, mask, 0x1234));
  for (std::uint32_t form = 0; form < 2; ++form) add(simple("twin_proxy_fences", twins::twin_proxy_fences, form));
  return cases;
}

}  // namespace megakittens::test
