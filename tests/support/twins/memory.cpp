#include "gpu/twins/memory.cuh"
#include "gpu/twins/warp.cuh"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

constexpr std::uint32_t kMasks[] = {0xffffffff, 0x00000000, 0x00000001, 0x80000000, 0x5a5a0ff3};

TwinCase simple(const std::string& name, void (*host)(const twins::Parameters&), std::size_t in, std::size_t out) {
  TwinCase twin;
  twin.name = twin.kernel = name;
  twin.host = host;
  twin.in = random_bytes(in, 3);
  twin.out = random_bytes(out, 4);
  return twin;
}

}  // namespace

std::vector<TwinCase> memory_twins() {
  std::vector<TwinCase> cases;
  auto masked = [&](const std::string& name, void (*host)(const twins::Parameters&), std::uint32_t shared) {
    for (const std::uint32_t mask : kMasks) {
      TwinCase twin = simple(name, host, 4096, 4096);
      twin.name = fmt::format("{} under mask {:#010x}", name, mask);
      twin.a = mask;
      twin.shared_bytes = shared;
      cases.push_back(std::move(twin));
    }
  };
#define MK_GLOBAL(WIDTH) masked("twin_global_" #WIDTH, twins::twin_global_##WIDTH, 0)
#define MK_SHARED(WIDTH) masked("twin_shared_" #WIDTH, twins::twin_shared_##WIDTH, 4096)
  MK_GLOBAL(u8), MK_GLOBAL(u16), MK_GLOBAL(u32), MK_GLOBAL(u64), MK_GLOBAL(v2), MK_GLOBAL(v4);
  MK_SHARED(u8), MK_SHARED(u16), MK_SHARED(u32), MK_SHARED(u64), MK_SHARED(v2), MK_SHARED(v4);
#undef MK_GLOBAL
#undef MK_SHARED
  cases.push_back(simple("twin_global_nc_v4", twins::twin_global_nc_v4, 512, 1024));
  for (std::uint32_t transposed = 0; transposed < 4; ++transposed) {
    cases.push_back(simple("twin_matrix", twins::twin_matrix, 512, 1536));
    cases.back().name += fmt::format(", transposed {}", transposed);
    cases.back().a = transposed;
    cases.back().shared_bytes = 1024;
  }
  return cases;
}

std::vector<TwinCase> warp_twins() {
  std::vector<TwinCase> cases;
  cases.push_back(simple("twin_exchange", twins::twin_exchange, 256, 42 * 128));
  // A NaN among the largest: its bits are not claimed.
  cases.back().agreement.kind = Agreement::Kind::floats;
  TwinCase vote = simple("twin_vote", twins::twin_vote, 32 * 128, 70 * 128);
  for (std::size_t i = 0; i < 256; i += 4) vote.in[i] = static_cast<std::byte>(i < 128);  // all, then none
  cases.push_back(vote);
  cases.push_back(simple("twin_syncwarp", twins::twin_syncwarp, 128, 64 * 128));
  cases.back().shared_bytes = 1024;
  for (const std::uint32_t cluster : {1u, 2u}) {
    cases.push_back(simple("twin_special", twins::twin_special, 4, 6 * 4 * 64));
    cases.back().name += fmt::format(", clusters of {}", cluster);
    cases.back().grid = 6;
    cases.back().cluster = cluster;
    cases.back().warps = 4;
    cases.back().shared_bytes = 1024;
  }
  cases.push_back(simple("twin_cache_policy", twins::twin_cache_policy, 4, 512));
  cases.push_back(simple("twin_trap", twins::twin_trap, 128, 4));
  cases.back().in.assign(128, std::byte{0});
  cases.back().fails = true;
  return cases;
}

}  // namespace megakittens::test
