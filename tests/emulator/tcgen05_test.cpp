#include <cmath>

#include "device/arch/sm100/descriptor.cuh"
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Bf16;
using device::Lanes;
using device::one_lane;
using device::Swizzle;

constexpr std::uint32_t kK = 64;

// D[m, n] = A[m, 64] * B[64, n], twice in the same columns: warp 4 loads and issues, warps 0 to 3 read the accumulator.
// With a pair each CTA holds half of A's rows, half of B's columns, and half of D's rows.
template <int kCtas>
struct Tensor {
  static constexpr std::uint32_t kM = 128 * kCtas, kN = 64, kRounds = 2;
  static constexpr std::uint32_t kBytesA = 128 * kK * 2, kBytesB = kN / kCtas * kK * 2;
  std::vector<std::uint16_t> a = std::vector<std::uint16_t>(kRounds * kM * kK),
                             b = std::vector<std::uint16_t>(kRounds * kN * kK);
  std::vector<float> d = std::vector<float>(kRounds * kM * kN), expected = d;
  bool leader_alone = false;  // a fault: only the leader's consumers give the accumulator back

  LaunchConfig config() {
    LaunchConfig c;
    c.grid = c.cluster = kCtas;
    c.warps = 5;
    c.shared_bytes = 1024 + kBytesA + kBytesB;
    c.buffers = {buffer("a", a, Contents::kReadOnly), buffer("b", b, Contents::kReadOnly),
                 buffer("d", d, Contents::kUnwritten)};
    return c;
  }
  // Operands lie in memory as the tiles do, swizzle included, so that plain bulk copies bring them.
  static std::uint32_t place(std::uint32_t row, std::uint32_t k) {
    return device::swizzle_address(Swizzle::k128B, row * 128 + k * 2) / 2;
  }
  void prepare() {
    auto value = [](std::uint32_t i) {
      return static_cast<float>(static_cast<int>(i * 2654435761u >> 24) - 128) / 64.0f;
    };
    auto rounded = [](float x) { return device::to_float(device::to_bf16(x)); };
    for (std::uint32_t r = 0; r < kRounds; r++) {
      for (std::uint32_t i = 0; i < kM * kK; i++)
        a[r * kM * kK + i / kK / 128 * 128 * kK + place(i / kK % 128, i % kK)] =
            device::to_bf16(value(r * 9999 + i)).bits;
      for (std::uint32_t i = 0; i < kN * kK; i++) {
        const std::uint32_t n = i / kK, half = kN / kCtas;
        b[r * kN * kK + n / half * half * kK + place(n % half, i % kK)] =
            device::to_bf16(value(r * 5555 + i + 333)).bits;
      }
      for (std::uint32_t m = 0; m < kM; m++) {
        for (std::uint32_t n = 0; n < kN; n++) {
          float sum = 0;
          for (std::uint32_t k = 0; k < kK; k++)
            sum += rounded(value(r * 9999 + m * kK + k)) * rounded(value(r * 5555 + n * kK + k + 333));
          expected[(r * kM + m) * kN + n] = sum;
        }
      }
    }
  }
  void verify() const {
    for (std::size_t i = 0; i < d.size(); i++)
      ASSERT_NEAR(d[i], expected[i], 1e-3f * (1 + std::fabs(expected[i]))) << i;
  }

  static std::uint32_t base() { return ptx::dynamic_shared_base(); }
  static std::uint32_t full() { return base(); }        // of the leader: both CTAs' operands
  static std::uint32_t free() { return base() + 8; }    // operands may be overwritten
  static std::uint32_t done() { return base() + 16; }   // the accumulator is complete
  static std::uint32_t empty() { return base() + 24; }  // of the leader: all warps have read it (row 23)
  static std::uint32_t slot() { return base() + 64; }
  static std::uint32_t page_a() { return base() + 1024; }
  static std::uint32_t page_b() { return page_a() + kBytesA; }
  static std::uint32_t leader(std::uint32_t address) { return ptx::mapa(address, 0); }

  void load_and_issue(std::uint32_t columns) const {
    device::annotate("launcher", 0);
    const std::uint32_t rank = ptx::cluster_ctarank();
    for (std::uint32_t r = 0; r < kRounds; r++) {
      wait_cluster(free(), r ^ 1);
      one_lane([&] {
        const std::uint16_t* from_a = a.data() + (r * kM + rank * 128) * kK;
        const std::uint16_t* from_b = b.data() + (r * kN + rank * (kN / kCtas)) * kK;
        if (kCtas == 1) {
          ptx::mbarrier_arrive_expect_tx(full(), kBytesA + kBytesB);
        } else {
          ptx::mbarrier_arrive_expect_tx_release_cluster(leader(full()), kBytesA + kBytesB);
        }
        load_pair(page_a(), from_a, kBytesA);
        load_pair(page_b(), from_b, kBytesB);
      });
      if (rank != 0) continue;
      wait_cluster(full(), r & 1);
      wait_cluster(empty(), (r & 1) ^ 1);
      ptx::tcgen05_fence_after_thread_sync();
      one_lane([&] {
        const std::uint64_t da = sm100::k_major(page_a(), Swizzle::k128B),
                            db = sm100::k_major(page_b(), Swizzle::k128B);
        for (std::uint32_t k = 0; k < kK; k += 16) {
          ptx::tcgen05_mma_f16<kCtas>(columns, sm100::advance(da, k * 2), sm100::advance(db, k * 2),
                                      sm100::instruction<Bf16>(kM, kN), k > 0);
        }
        commit(free());
        commit(done());
      });
    }
  }
  void commit(std::uint32_t barrier) const {
    if (kCtas == 1) {
      ptx::tcgen05_commit<kCtas>(barrier);
    } else {
      ptx::tcgen05_commit_multicast<kCtas>(barrier, 3);
    }
  }
  void load_pair(std::uint32_t page, const void* from, std::uint32_t bytes) const {
    // The one-dimensional copy has no form for a pair; the machine takes the same operands.
    device::host::bulk_load({page, leader(full()), 0, kCtas == 2}, from, bytes);
  }
  static void wait_cluster(std::uint32_t barrier, std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity_acquire_cluster(barrier, parity)) {
    }
  }

  void consume(std::uint32_t columns) const {
    device::annotate("consumer", 0);
    const std::uint32_t warp = device::host::warp_index();
    for (std::uint32_t r = 0; r < kRounds; r++) {
      wait_cluster(done(), r & 1);
      ptx::tcgen05_fence_after_thread_sync();
      Lanes<std::uint32_t> x[kN];
      ptx::tcgen05_ld_32x32b(x, columns | warp << 21);
      ptx::tcgen05_wait_ld(x);
      ptx::tcgen05_fence_before_thread_sync();
      if (!leader_alone || ptx::cluster_ctarank() == 0)
        one_lane([&] { ptx::mbarrier_arrive_release_cluster(leader(empty())); });
      const Lanes<std::uint32_t> row = device::lane_index() + warp * 32 + ptx::cluster_ctarank() * 128 + r * kM;
      for (std::uint32_t n = 0; n < kN; n++)
        ptx::st_global_u32(const_cast<float*>(d.data()), (row * kN + n) * 4u, x[n]);
    }
  }

  void operator()() const {
    const std::uint32_t warp = device::host::warp_index();
    if (warp == 0) {
      ptx::tcgen05_alloc<kCtas>(slot(), kN);
      one_lane([&] {
        ptx::mbarrier_init(full(), kCtas);
        ptx::mbarrier_init(free(), 1);
        ptx::mbarrier_init(done(), 1);
        ptx::mbarrier_init(empty(), leader_alone ? 4 : 4 * kCtas);
        ptx::fence_mbarrier_init_release_cluster();
      });
    }
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    const std::uint32_t columns = ptx::ld_shared_u32(slot());
    if (warp == 4) {
      load_and_issue(columns);
    } else {
      consume(columns);
    }
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    if (warp == 0) {
      ptx::tcgen05_relinquish_alloc_permit<kCtas>();
      ptx::tcgen05_dealloc<kCtas>(columns, kN);
    }
  }
};

template <class T>
class TensorCore : public testing::Test {
 protected:
  TensorCore() { product.prepare(); }
  void found(const PlantedFault& fault, const std::vector<Rule>& rules) {
    expect_found(product.config(), fault, rules, product, [] {});
  }
  T product;
};
using Groups = testing::Types<Tensor<1>, Tensor<2>>;
TYPED_TEST_SUITE(TensorCore, Groups);

TYPED_TEST(TensorCore, product_equals_the_plain_one) {
  expect_good(
      this->product.config(), this->product, [&] { this->product.d.assign(this->product.d.size(), 0); },
      [&] { this->product.verify(); });
}

TYPED_TEST(TensorCore, reading_an_accumulator_without_fence_after_is_found) {
  PlantedFault fault{FaultPoint::kTcgenFenceAfter};
  fault.role = "consumer";
  this->found(fault, {Rule::kTensorNotCommitted});
}

TYPED_TEST(TensorCore, reading_an_accumulator_without_waiting_is_found) {
  PlantedFault fault{FaultPoint::kMbarrierWait};
  fault.role = "consumer";
  fault.warp = 1;
  fault.nth = 0;
  // A read before anything was written, or an arrival that lets the issuer run on over slower readers.
  this->found(fault, {Rule::kTensorNotCommitted, Rule::kUnwritten, Rule::kTensorReused});
}

TYPED_TEST(TensorCore, a_reader_without_fence_before_is_found) {
  PlantedFault fault{FaultPoint::kTcgenFenceBefore};
  fault.warp = 2;
  this->found(fault, {Rule::kTensorReused});
}

TYPED_TEST(TensorCore, a_reader_that_does_not_wait_for_its_loads_is_found) {
  PlantedFault fault{FaultPoint::kTcgenWait};
  fault.warp = 2;
  this->found(fault, {Rule::kAccumulatorInFlight, Rule::kTensorReused});
}

TYPED_TEST(TensorCore, an_issuer_without_fence_after_is_found) {
  PlantedFault fault{FaultPoint::kTcgenFenceAfter};
  fault.role = "launcher";
  this->found(fault, {Rule::kTensorReused});
}

TYPED_TEST(TensorCore, overwriting_operands_before_the_commit_is_found) {
  PlantedFault fault{FaultPoint::kMbarrierWait};
  fault.role = "launcher";
  fault.cta = 0;
  fault.nth = 3;  // of each round's waits, in the leader: free, full, empty
  this->found(fault, {Rule::kReleasedUnderTcgen, Rule::kUnwaitedLoad});
}

class TensorPair : public testing::Test {
 protected:
  TensorPair() { product.prepare(); }
  Tensor<2> product;
};

TEST_F(TensorPair, remote_arrivals_without_cluster_scope_are_found) {
  PlantedFault fault{FaultPoint::kRemoteArrive};
  fault.role = "consumer";
  fault.cta = 1;
  expect_found(product.config(), fault, {Rule::kTensorReused}, product, [] {});
}

TEST_F(TensorPair, waits_without_cluster_scope_are_found) {
  PlantedFault fault{FaultPoint::kRemoteWait};
  fault.cta = 1;
  fault.role = "consumer";
  expect_found(product.config(), fault, {Rule::kTensorNotCommitted}, product, [] {});
}

// Row 23: the leader's products write the peer's tensor memory, too, whose readers nobody waits for.
TEST_F(TensorPair, a_leader_that_waits_for_its_own_consumers_alone_is_found) {
  product.leader_alone = true;
  LaunchConfig config = product.config();
  for (config.seed = 1; config.seed <= kSeeds; config.seed++) {
    const Report report = run(config, product);
    EXPECT_TRUE(report.has(Rule::kTensorReused)) << "seed " << config.seed << "\n" << report.text();
  }
}

TEST(TensorMemory, that_is_not_given_back_is_found) {
  LaunchConfig config;
  config.shared_bytes = 1024;
  const Report report = run(config, [] { ptx::tcgen05_alloc<1>(ptx::dynamic_shared_base(), 64); });
  EXPECT_TRUE(report.has(Rule::kTensorMemoryMisuse)) << report.text();
}

TEST(TensorMemory, of_another_warps_quarter_is_refused) {
  LaunchConfig config;
  config.shared_bytes = 1024;
  config.warps = 2;
  const Report report = run(config, [] {
    const std::uint32_t slot = ptx::dynamic_shared_base();
    if (device::host::warp_index() == 0) ptx::tcgen05_alloc<1>(slot, 64);
    ptx::bar_sync_all();
    const std::uint32_t columns = ptx::ld_shared_u32(slot);
    const Lanes<std::uint32_t> x[4] = {1, 2, 3, 4};
    ptx::tcgen05_st_32x32b(columns, x);  // lane 0: warp 0's
    ptx::tcgen05_wait_st();
    ptx::bar_sync_all();
    if (device::host::warp_index() == 0) ptx::tcgen05_dealloc<1>(columns, 64);
  });
  EXPECT_TRUE(report.has(Rule::kTensorMemoryMisuse)) << report.text();
  EXPECT_THAT(report.text(), testing::HasSubstr("may touch lanes 32 to 63"));
}

}  // namespace
}  // namespace megakittens::emulator
