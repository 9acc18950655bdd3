#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Lanes;
using device::one_lane;

// Rank 0 multicasts blocks into both CTAs' page; both CTAs read it and give it back to rank 0 (row 26).
struct Multicast {
  static constexpr std::uint32_t kBlocks = 4, kBytes = 128;
  std::vector<std::uint32_t> in = std::vector<std::uint32_t>(kBlocks * 32),
                             out = std::vector<std::uint32_t>(2 * kBlocks * 32);

  LaunchConfig config() {
    LaunchConfig c;
    c.grid = c.cluster = 2;
    c.warps = 2;
    c.shared_bytes = 1024 + kBytes;
    c.buffers = {buffer("in", in, Contents::kReadOnly), buffer("out", out, Contents::kUnwritten)};
    return c;
  }
  void reset() {
    for (std::uint32_t i = 0; i < in.size(); i++) in[i] = i * 5;
    out.assign(out.size(), 0);
  }
  void verify() const {
    for (std::uint32_t i = 0; i < out.size(); i++) ASSERT_EQ(out[i], in[i % in.size()]) << i;
  }
  void operator()() const {
    const std::uint32_t full = ptx::dynamic_shared_base(), token = full + 8, page = full + 1024,
                        rank = ptx::cluster_ctarank();
    const std::uint32_t warp = device::host::warp_index();
    if (warp == 0) {
      one_lane([&] {
        ptx::mbarrier_init(full, 1);
        ptx::mbarrier_init(token, 2);
        ptx::fence_mbarrier_init_release_cluster();
      });
    }
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    if (warp == 0) {
      device::annotate("loader", 0);
      for (std::uint32_t i = 0; i < kBlocks; i++) {
        // Each destination expects its own bytes, once its page is free here and there.
        if (rank == 0) {
          while (!ptx::mbarrier_try_wait_parity_acquire_cluster(token, (i & 1) ^ 1)) {
          }
          one_lane([&] {
            ptx::mbarrier_arrive_expect_tx(full, kBytes);
            ptx::mbarrier_arrive_expect_tx_release_cluster(ptx::mapa(full, 1), kBytes);
            ptx::cp_async_bulk_g2s_multicast(page, in.data() + i * 32, kBytes, full, 3);
          });
        }
      }
    } else {
      device::annotate("consumer", 0);
      for (std::uint32_t i = 0; i < kBlocks; i++) {
        while (!ptx::mbarrier_try_wait_parity_acquire_cluster(full, i & 1)) {
        }
        const Lanes<std::uint32_t> x = ptx::ld_shared_u32(page + device::lane_index() * 4u);
        one_lane([&] { ptx::mbarrier_arrive_release_cluster(ptx::mapa(token, 0)); });
        ptx::st_global_u32(const_cast<std::uint32_t*>(out.data()),
                           ((rank * kBlocks + i) * 32 + device::lane_index()) * 4u, x);
      }
    }
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
  }
};

class ClusterMulticast : public testing::Test {
 protected:
  void found(const PlantedFault& fault, const std::vector<Rule>& rules) {
    multicast.reset();
    expect_found(multicast.config(), fault, rules, multicast, [&] { multicast.reset(); });
  }
  Multicast multicast;
};

TEST_F(ClusterMulticast, reaches_both_ctas_under_every_seed) {
  multicast.reset();
  expect_good(multicast.config(), multicast, [&] { multicast.reset(); }, [&] { multicast.verify(); });
}

TEST_F(ClusterMulticast, after_an_arrival_without_cluster_scope_is_found) {
  PlantedFault fault{FaultPoint::kRemoteArrive};
  fault.role = "consumer";
  fault.cta = 1;
  found(fault, {Rule::kMulticastToken, Rule::kUnwaitedLoad});
}

TEST_F(ClusterMulticast, after_a_wait_without_cluster_scope_is_found) {
  PlantedFault fault{FaultPoint::kRemoteWait};
  fault.role = "loader";
  found(fault, {Rule::kMulticastToken, Rule::kUnwaitedLoad});
}

TEST_F(ClusterMulticast, into_barriers_without_init_fence_is_found) {
  PlantedFault fault{FaultPoint::kFenceMbarrierInit};
  fault.cta = 1;
  found(fault, {Rule::kBarrierNotPublished});
}

TEST(Cluster, leaving_while_a_peer_still_arrives_is_found) {
  LaunchConfig config;
  config.grid = config.cluster = 2;
  config.shared_bytes = 1024;
  auto kernel = [] {
    const std::uint32_t barrier = ptx::dynamic_shared_base();
    one_lane([&] {
      ptx::mbarrier_init(barrier, 1);
      ptx::fence_mbarrier_init_release_cluster();
    });
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    if (ptx::cluster_ctarank() == 0) return;
    for (int i = 0; i < 50; i++) ptx::nanosleep(1);
    one_lane([&] { ptx::mbarrier_arrive_release_cluster(ptx::mapa(barrier, 0)); });
  };
  const Report report = run(config, kernel);
  EXPECT_TRUE(report.has(Rule::kClusterExit)) << report.text();
}

TEST(Cluster, shared_to_shared_copies_signal_the_destination) {
  LaunchConfig config;
  config.grid = config.cluster = 2;
  config.shared_bytes = 2048;
  std::vector<std::uint32_t> out(32);
  config.buffers = {buffer("out", out, Contents::kUnwritten)};
  auto kernel = [&] {
    const std::uint32_t barrier = ptx::dynamic_shared_base(), page = barrier + 1024;
    one_lane([&] {
      ptx::mbarrier_init(barrier, 1);
      ptx::fence_mbarrier_init_release_cluster();
      ptx::mbarrier_arrive_expect_tx(barrier, ptx::cluster_ctarank() == 1 ? 128 : 0);
    });
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
    if (ptx::cluster_ctarank() == 0) {
      ptx::st_shared_u32(page + device::lane_index() * 4u, device::lane_index() + 7u);
      ptx::fence_proxy_async_shared_cta();
      one_lane([&] { ptx::cp_async_bulk_s2cluster(ptx::mapa(page, 1), page, 128, ptx::mapa(barrier, 1)); });
    } else {
      wait(barrier, 0);
      ptx::st_global_u32(out.data(), device::lane_index() * 4u, ptx::ld_shared_u32(page + device::lane_index() * 4u));
    }
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
  };
  expect_good(config, kernel, [&] { out.assign(32, 0); }, [&] { ASSERT_EQ(out[31], 38u); });
}

}  // namespace
}  // namespace megakittens::emulator
