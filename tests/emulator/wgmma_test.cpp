#include <cmath>

#include "device/arch/sm90/descriptor.cuh"
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Bf16;
using device::F16;
using device::Lanes;
using device::one_lane;
using device::Swizzle;

constexpr std::uint32_t kM = 64, kK = 64, kWarps = 4;

std::uint16_t bits_of(float x, Bf16) {
  return device::to_bf16(x).bits;
}
std::uint16_t bits_of(float x, F16) {
  return device::to_f16(x).bits;
}

// D[64, N] = A[64, 64] * B[64, N]: four products of one group, operands in 128-byte swizzled tiles written by ordinary
// stores (row 6), the accumulators stored after the group retired.
template <class In, int N, bool kTransB, bool kTransA = false>
struct Product {
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(kM * kK), b = std::vector<std::uint16_t>(kK * N);
  std::vector<float> d = std::vector<float>(kM * N), expected = d;
  bool a_in_registers = false;

  LaunchConfig config() {
    LaunchConfig c;
    c.warps = kWarps;
    c.shared_bytes = (kM + N) * kK * 2;
    c.buffers = {buffer("a", a, Contents::kReadOnly), buffer("b", b, Contents::kReadOnly),
                 buffer("d", d, Contents::kUnwritten)};
    return c;
  }
  void prepare() {
    auto value = [](std::uint32_t i) {
      return static_cast<float>(static_cast<int>(i * 2654435761u >> 24) - 128) / 64.0f;
    };
    std::vector<float> fa(kM * kK), fb(kK * N);
    for (std::uint32_t i = 0; i < fa.size(); i++) a[i] = bits_of(fa[i] = value(i), In{});
    for (std::uint32_t i = 0; i < fb.size(); i++) b[i] = bits_of(fb[i] = value(i + 77777), In{});  // [k][n]
    for (std::uint32_t m = 0; m < kM; m++) {
      for (std::uint32_t n = 0; n < N; n++) {
        float sum = 0;
        for (std::uint32_t k = 0; k < kK; k++) sum += fa[m * kK + k] * fb[k * N + n];
        expected[m * N + n] = sum;
      }
    }
  }

  static std::uint32_t page_a() { return ptx::dynamic_shared_base(); }
  static std::uint32_t page_b() { return page_a() + kM * kK * 2; }
  // Where element (k, n) of B lies: K-major rows of 64 k, or blocks of 64 n with their k one under the other.
  static std::uint32_t place_b(std::uint32_t k, std::uint32_t n) {
    const std::uint32_t linear = kTransB ? n / 64 * kK * 128 + k * 128 + n % 64 * 2 : n * 128 + k * 2;
    return device::swizzle_address(Swizzle::k128B, page_b() + linear);
  }
  static std::uint32_t place_a(std::uint32_t m, std::uint32_t k) {
    return device::swizzle_address(Swizzle::k128B, page_a() + (kTransA ? k * 128 + m * 2 : m * 128 + k * 2));
  }

  void fill() const {
    const std::uint32_t warp = device::host::warp_index();
    auto copy = [&](const std::vector<std::uint16_t>& from, std::uint32_t columns, auto place) {
      for (std::uint32_t i = warp * 32; i < from.size(); i += kWarps * 32) {
        Lanes<std::uint32_t> address;
        for (std::uint32_t l = 0; l < 32; l++) address.v[l] = place((i + l) / columns, (i + l) % columns);
        ptx::st_shared_u16(address, ptx::ld_global_u16(from.data(), (device::lane_index() + i) * 2u));
      }
    };
    copy(a, kK, place_a);
    copy(b, N, place_b);
    ptx::fence_proxy_async_shared_cta();
    ptx::bar_sync(1, kWarps * 32);
  }
  void load_a(Lanes<std::uint32_t> (&words)[4], std::uint32_t k) const {
    const std::uint32_t warp = device::host::warp_index();
    for (std::uint32_t r = 0; r < 4; r++) {
      Lanes<std::uint64_t> offset;
      for (std::uint32_t l = 0; l < 32; l++) {
        offset.v[l] = ((16 * warp + l / 4 + 8 * (r % 2)) * kK + k + 2 * (l % 4) + 8 * (r / 2)) * 2;
      }
      words[r] = ptx::ld_global_u32(a.data(), offset);
    }
  }

  void operator()() const {
    device::annotate("consumer", 3);
    fill();
    Lanes<float> acc[N / 2];
    const std::uint64_t da =
        kTransA ? sm90::n_major(page_a(), Swizzle::k128B, kK * 128) : sm90::k_major(page_a(), Swizzle::k128B);
    const std::uint64_t db =
        kTransB ? sm90::n_major(page_b(), Swizzle::k128B, kK * 128) : sm90::k_major(page_b(), Swizzle::k128B);
    Lanes<std::uint32_t> words[kK / 16][4];
    if (a_in_registers) {
      for (std::uint32_t k = 0; k < kK; k += 16) load_a(words[k / 16], k);
    }
    ptx::wgmma_fence();
    for (std::uint32_t k = 0; k < kK; k += 16) {
      const std::uint64_t step_b =
          sm90::advance(db, k / 16 * (kTransB ? sm90::k_step_n_major(Swizzle::k128B) : sm90::k_step_k_major()));
      const std::uint64_t step_a =
          sm90::advance(da, k / 16 * (kTransA ? sm90::k_step_n_major(Swizzle::k128B) : sm90::k_step_k_major()));
      if constexpr (N >= 64 && N != 192) {
        if (a_in_registers) {
          ptx::wgmma_a_registers<In, N, kTransB>(acc, words[k / 16], step_b, k > 0);
          continue;
        }
      }
      ptx::wgmma<In, N, kTransB, kTransA>(acc, step_a, step_b, k > 0);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<0>();
    store(acc);
  }
  void store(const Lanes<float> (&acc)[N / 2]) const {
    const std::uint32_t warp = device::host::warp_index();
    for (std::uint32_t r = 0; r < N / 2; r++) {
      Lanes<std::uint64_t> offset;
      for (std::uint32_t l = 0; l < 32; l++)
        offset.v[l] = ((16 * warp + l / 4 + 8 * (r / 2 % 2)) * N + 8 * (r / 4) + 2 * (l % 4) + r % 2) * 4;
      ptx::st_global_u32(const_cast<float*>(d.data()), offset, device::bit_cast<std::uint32_t>(acc[r]));
    }
  }

  void verify() const {
    for (std::size_t i = 0; i < d.size(); i++)
      ASSERT_NEAR(d[i], expected[i], 1e-3f * (1 + std::fabs(expected[i]))) << i;
  }
};

template <class P>
class WarpgroupProduct : public testing::Test {
 protected:
  void good(bool registers) {
    product.a_in_registers = registers;
    product.prepare();
    expect_good(product.config(), product, [&] { product.d.assign(product.d.size(), 0); }, [&] { product.verify(); });
  }
  P product;
};
using Shapes = testing::Types<Product<Bf16, 64, false>, Product<Bf16, 64, true>, Product<Bf16, 128, false>,
                              Product<Bf16, 128, true>, Product<Bf16, 192, false>, Product<F16, 192, true>,
                              Product<Bf16, 256, false>, Product<Bf16, 256, true>, Product<F16, 64, true>,
                              Product<F16, 256, false>, Product<Bf16, 32, false>, Product<F16, 8, false>,
                              Product<Bf16, 128, false, true>, Product<F16, 256, true, true>>;
TYPED_TEST_SUITE(WarpgroupProduct, Shapes);

TYPED_TEST(WarpgroupProduct, equals_the_plain_product) {
  this->good(false);
}
TYPED_TEST(WarpgroupProduct, with_a_in_registers_equals_the_plain_product) {
  this->good(true);
}

class WarpgroupFaults : public testing::Test {
 protected:
  WarpgroupFaults() { product.prepare(); }
  void found(const PlantedFault& fault, const std::vector<Rule>& rules) {
    expect_found(product.config(), fault, rules, product, [] {});
  }
  Product<Bf16, 64, false> product;
};

TEST_F(WarpgroupFaults, a_writer_without_proxy_fence_is_found) {
  PlantedFault fault{FaultPoint::kFenceProxyAsyncShared};
  fault.warp = 2;
  found(fault, {Rule::kProxyFenceShared});
}

TEST_F(WarpgroupFaults, products_without_wgmma_fence_are_found) {
  found({FaultPoint::kWgmmaFence}, {Rule::kAccumulatorInFlight});
}

TEST_F(WarpgroupFaults, reading_accumulators_before_wait_group_is_found) {
  found({FaultPoint::kWgmmaWaitGroup}, {Rule::kAccumulatorInFlight});
}

TEST_F(WarpgroupFaults, writing_accumulators_in_flight_is_found) {
  auto kernel = [&] {
    product.fill();
    Lanes<float> acc[32];
    ptx::wgmma_fence();
    ptx::wgmma<Bf16, 64, false>(acc, sm90::k_major(product.page_a(), Swizzle::k128B),
                                sm90::k_major(product.page_b(), Swizzle::k128B), false);
    ptx::wgmma_commit_group();
    acc[5] = 1.0f;
    ptx::wgmma_wait_group<0>();
  };
  const Report report = run(product.config(), kernel);
  EXPECT_TRUE(report.has(Rule::kAccumulatorInFlight)) << report.text();
}

// Products read a page that a loader fills twice; the consumers' release before wait_group is early.
TEST(WarpgroupPages, released_before_wait_group_are_found) {
  std::vector<std::uint16_t> data(2 * 64 * 64, 0x3f80);
  LaunchConfig config;
  config.warps = 5;
  config.shared_bytes = 1024 + 8192;
  config.buffers = {buffer("data", data, Contents::kReadOnly)};
  auto kernel = [&] {
    const std::uint32_t full = ptx::dynamic_shared_base(), empty = full + 8, page = full + 1024;
    set_up([&] {
      ptx::mbarrier_init(full, 1);
      ptx::mbarrier_init(empty, 1);
    });
    if (device::host::warp_index() == 4) {
      for (std::uint32_t i = 0; i < 2; i++) {
        wait(empty, i ^ 1);
        one_lane([&] {
          ptx::mbarrier_arrive_expect_tx(full, 8192);
          ptx::cp_async_bulk_g2s(page, data.data() + i * 4096, 8192, full);
        });
      }
      return;
    }
    Lanes<float> acc[32];
    for (std::uint32_t i = 0; i < 2; i++) {
      wait(full, i);
      ptx::wgmma_fence();
      ptx::wgmma<Bf16, 64, false>(acc, sm90::k_major(page, Swizzle::k128B), sm90::k_major(page, Swizzle::k128B), i > 0);
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>();
      if (device::host::warp_index() == 0) one_lane([&] { ptx::mbarrier_arrive(empty); });
    }
  };
  expect_good(config, kernel, [] {}, [] {});
  PlantedFault fault{FaultPoint::kWgmmaWaitGroup};
  fault.nth = 0;
  fault.warp = 0;
  // If the load comes first, the products meet bytes they did not wait for, or a slower warp misses its phase.
  expect_found(config, fault, {Rule::kReleasedUnderWgmma, Rule::kUnwaitedLoad, Rule::kLappedWaiter}, kernel, [] {});
}

}  // namespace
}  // namespace megakittens::emulator
