// Hand-offs through global memory between CTAs (rows 6 to 13), each with every one of its parts left out.
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Lanes;
using device::one_lane;

constexpr std::uint32_t kWarps = 4, kWords = kWarps * 32, kBytes = kWords * 4;

enum class Store { kBulk, kOrdinary };
enum class Load { kBulk, kOrdinary };

// CTA 0 writes `data` by one kind of store and arrives on a counter; CTA 1 waits and copies it to `out` by one kind of
// load.
struct HandOff {
  Store store;
  Load load;
  std::vector<std::uint32_t> data = std::vector<std::uint32_t>(kWords), out = data;
  alignas(16) mutable std::vector<std::uint32_t> counter = std::vector<std::uint32_t>(4);

  LaunchConfig config() {
    LaunchConfig c;
    c.grid = 2;
    c.warps = kWarps;
    c.shared_bytes = 1024 + kBytes;
    c.buffers = {buffer("data", data, Contents::kUnwritten), buffer("out", out, Contents::kUnwritten),
                 buffer("counter", counter)};
    return c;
  }
  void reset() {
    data.assign(kWords, 0);
    out.assign(kWords, 0);
    counter.assign(4, 0);
  }
  void verify() const {
    for (std::uint32_t i = 0; i < kWords; i++) ASSERT_EQ(out[i], 3 * i + 1) << i;
  }

  static std::uint32_t barrier() { return ptx::dynamic_shared_base(); }
  static std::uint32_t page() { return ptx::dynamic_shared_base() + 1024; }
  static Lanes<std::uint32_t> index() { return device::lane_index() + device::host::warp_index() * 32; }
  std::uint32_t* target() const { return const_cast<std::uint32_t*>(data.data()); }

  void produce() const {
    device::annotate("storer", 1);
    const bool first = device::host::warp_index() == 0;
    if (store == Store::kBulk) {
      ptx::st_shared_u32(page() + index() * 4u, index() * 3u + 1u);
      ptx::fence_proxy_async_shared_cta();
    } else {
      ptx::st_global_u32(target(), index() * 4u, index() * 3u + 1u);
    }
    ptx::bar_sync(1, kWarps * 32);
    if (!first) return;
    one_lane([&] {
      if (store == Store::kBulk) {
        ptx::cp_async_bulk_s2g(target(), page(), kBytes);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group<0>();
      }
      ptx::red_release_gpu_add_u32(counter.data(), 1);
    });
  }
  void consume() const {
    device::annotate("loader", 2);
    if (device::host::warp_index() == 0) {
      device::note_wait("counter 0", 1);
      while (ptx::ld_acquire_gpu_u32(counter.data()) < 1) {
      }
      if (load == Load::kBulk) {
        one_lane([&] {
          ptx::fence_proxy_async_global();
          ptx::mbarrier_arrive_expect_tx(barrier(), kBytes);
          ptx::cp_async_bulk_g2s(page(), data.data(), kBytes, barrier());
        });
      }
    }
    Lanes<std::uint32_t> x;
    if (load == Load::kBulk) {
      wait(barrier(), 0);
      x = ptx::ld_shared_u32(page() + index() * 4u);
    } else {
      ptx::bar_sync(2, kWarps * 32);
      x = ptx::ld_global_u32(data.data(), index() * 4u);
    }
    ptx::st_global_u32(const_cast<std::uint32_t*>(out.data()), index() * 4u, x);
  }
  void operator()() const {
    set_up([] { ptx::mbarrier_init(barrier(), 1); });
    if (ptx::ctaid_x() == 0) {
      produce();
    } else {
      consume();
    }
  }
};

class Through : public testing::TestWithParam<std::tuple<Store, Load>> {
 protected:
  HandOff hand_off{std::get<0>(GetParam()), std::get<1>(GetParam())};
  bool bulk_store() const { return hand_off.store == Store::kBulk; }
  void found(const PlantedFault& fault, const std::vector<Rule>& rules) {
    expect_found(hand_off.config(), fault, rules, hand_off, [&] { hand_off.reset(); });
  }
};

class ThroughBulkStores : public Through {};
class ThroughBulkLoads : public Through {};
class ThroughOrdinaryLoads : public Through {};

TEST_P(Through, global_memory_is_silent_when_every_part_is_there) {
  expect_good(hand_off.config(), hand_off, [&] { hand_off.reset(); }, [&] { hand_off.verify(); });
}

TEST_P(Through, global_memory_without_release_is_found) {
  found({FaultPoint::kRelease}, {Rule::kNotReleased});
}

TEST_P(Through, global_memory_without_acquire_is_found) {
  found({FaultPoint::kAcquire}, {Rule::kNotReleased});
}

TEST_P(Through, global_memory_without_the_writers_barrier_is_found) {
  PlantedFault fault{FaultPoint::kNamedBarrier};
  fault.role = "storer";
  fault.warp = 0;
  // A write that comes after the bulk store has read its page, or after its reader, is told from that side.
  if (bulk_store()) {
    found(fault, {Rule::kProxyFenceShared, Rule::kReleasedUnderStore});
  } else {
    found(fault, {Rule::kNotReleased});
  }
}

TEST_P(ThroughOrdinaryLoads, without_the_readers_barrier_is_found) {
  PlantedFault fault{FaultPoint::kNamedBarrier};
  fault.role = "loader";
  fault.warp = 2;
  found(fault, {Rule::kNotReleased});
}

TEST_P(ThroughBulkStores, without_the_writers_proxy_fence_is_found) {
  PlantedFault fault{FaultPoint::kFenceProxyAsyncShared};
  fault.warp = 2;
  found(fault, {Rule::kProxyFenceShared});
}

TEST_P(ThroughBulkStores, with_wait_group_read_instead_of_wait_group_is_found) {
  found({FaultPoint::kBulkWaitGroup}, {Rule::kStoreNotComplete, Rule::kNotReleased});
}

TEST_P(ThroughBulkStores, without_commit_group_is_found) {
  found({FaultPoint::kBulkCommit}, {Rule::kNotReleased});
}

TEST_P(ThroughBulkLoads, without_the_readers_proxy_fence_is_found) {
  found({FaultPoint::kFenceProxyAsyncGlobal}, {bulk_store() ? Rule::kProxyFenceGlobalAsync : Rule::kProxyFenceGlobal});
}

constexpr auto kName = [](const auto& info) {
  return std::string(std::get<0>(info.param) == Store::kBulk ? "bulk" : "ordinary") + "_store_" +
         (std::get<1>(info.param) == Load::kBulk ? "bulk" : "ordinary") + "_load";
};
const auto kAnyStore = testing::Values(Store::kBulk, Store::kOrdinary);
const auto kAnyLoad = testing::Values(Load::kBulk, Load::kOrdinary);
INSTANTIATE_TEST_SUITE_P(Kinds, Through, testing::Combine(kAnyStore, kAnyLoad), kName);
INSTANTIATE_TEST_SUITE_P(Kinds, ThroughBulkStores, testing::Combine(testing::Values(Store::kBulk), kAnyLoad), kName);
INSTANTIATE_TEST_SUITE_P(Kinds, ThroughBulkLoads, testing::Combine(kAnyStore, testing::Values(Load::kBulk)), kName);
INSTANTIATE_TEST_SUITE_P(Kinds, ThroughOrdinaryLoads, testing::Combine(kAnyStore, testing::Values(Load::kOrdinary)),
                         kName);

TEST(FlaggedWords, carry_their_data_without_release_or_acquire) {
  std::vector<std::uint64_t> words(64), out(64);
  LaunchConfig config;
  config.grid = 2;
  config.warps = 2;
  config.buffers = {buffer("words", words), buffer("out", out)};
  auto kernel = [&] {
    const Lanes<std::uint64_t> offset = (device::lane_index() + device::host::warp_index() * 32) * 8u;
    if (ptx::ctaid_x() == 0) {
      ptx::st_relaxed_gpu_u64(words.data(), offset, offset << 32 | std::uint64_t{1}, Lanes<bool>(true));
      return;
    }
    Lanes<std::uint64_t> word(std::uint64_t{0});
    while (!device::all((word & std::uint64_t{0xffffffff}) == std::uint64_t{1}))
      word = ptx::ld_relaxed_gpu_u64(words.data(), offset);
    ptx::st_global_u64(out.data(), offset, word >> 32);
  };
  expect_good(
      config, kernel, [&] { words.assign(64, 0); },
      [&] {
        for (std::uint64_t i = 0; i < 64; i++) ASSERT_EQ(out[i], i * 8);
      });
}

TEST(FlaggedWords, a_fence_on_both_sides_orders_other_data) {
  std::vector<std::uint32_t> data(32), flag(4), out(32);
  LaunchConfig config;
  config.grid = 2;
  config.buffers = {buffer("data", data, Contents::kUnwritten), buffer("flag", flag), buffer("out", out)};
  auto kernel = [&] {
    const Lanes<std::uint64_t> offset = device::lane_index() * 4u;
    if (ptx::ctaid_x() == 0) {
      ptx::st_global_u32(data.data(), offset, device::lane_index());
      ptx::fence_acq_rel_gpu();
      one_lane([&] { ptx::st_relaxed_gpu_u32(flag.data(), 1); });
      return;
    }
    while (ptx::ld_relaxed_gpu_u32(flag.data()) == 0) {
    }
    ptx::fence_acq_rel_gpu();
    ptx::st_global_u32(out.data(), offset, ptx::ld_global_u32(data.data(), offset));
  };
  auto reset = [&] { flag.assign(4, 0); };
  expect_good(config, kernel, reset, [&] { ASSERT_EQ(out[31], 31u); });
  PlantedFault fault{FaultPoint::kFenceAcqRel};
  fault.cta = 0;
  expect_found(config, fault, {Rule::kNotReleased}, kernel, reset);
  fault.cta = 1;
  expect_found(config, fault, {Rule::kNotReleased}, kernel, reset);
}

TEST(Reuse, overwriting_what_another_cta_bulk_loads_needs_its_release_and_a_proxy_fence) {
  std::vector<std::uint32_t> data(32), counter(4);
  LaunchConfig config;
  config.grid = 2;
  config.shared_bytes = 2048;
  config.buffers = {buffer("data", data), buffer("counter", counter)};
  auto kernel = [&] {
    const std::uint32_t barrier = ptx::dynamic_shared_base(), page = barrier + 1024;
    set_up([&] { ptx::mbarrier_init(barrier, 1); });
    if (ptx::ctaid_x() == 0) {
      one_lane([&] {
        ptx::mbarrier_arrive_expect_tx(barrier, 128);
        ptx::cp_async_bulk_g2s(page, data.data(), 128, barrier);
      });
      wait(barrier, 0);
      one_lane([&] { ptx::red_release_gpu_add_u32(counter.data(), 1); });
      return;
    }
    ptx::st_shared_u32(page + device::lane_index() * 4u, device::lane_index());
    ptx::fence_proxy_async_shared_cta();
    while (ptx::ld_acquire_gpu_u32(counter.data()) == 0) {
    }
    one_lane([&] {
      ptx::fence_proxy_async_global();
      ptx::cp_async_bulk_s2g(data.data(), page, 128);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group<0>();
    });
  };
  auto reset = [&] {
    data.assign(32, 7);
    counter.assign(4, 0);
  };
  expect_good(config, kernel, reset, [&] { ASSERT_EQ(data[31], 31u); });
  PlantedFault release{FaultPoint::kRelease}, fence{FaultPoint::kFenceProxyAsyncGlobal};
  expect_found(config, release, {Rule::kReusedUnderReader}, kernel, reset);
  expect_found(config, fence, {Rule::kReusedUnderReader}, kernel, reset);
}

TEST(Reduction, bulk_additions_of_many_ctas_meet_without_order_and_are_read_after_a_counter) {
  std::vector<float> sum(32), out(32);
  std::vector<std::uint32_t> counter(4);
  LaunchConfig config;
  config.grid = 5;
  config.shared_bytes = 1024;
  config.buffers = {buffer("sum", sum), buffer("out", out), buffer("counter", counter)};
  auto kernel = [&] {
    const std::uint32_t page = ptx::dynamic_shared_base();
    if (ptx::ctaid_x() < 4) {
      ptx::st_shared_u32(page + device::lane_index() * 4u,
                         device::bit_cast<std::uint32_t>(device::convert<float>(device::lane_index())));
      ptx::fence_proxy_async_shared_cta();
      one_lane([&] {
        ptx::cp_reduce_async_bulk_add_f32(sum.data(), page, 128);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group<0>();
        ptx::red_release_gpu_add_u32(counter.data(), 1);
      });
      return;
    }
    while (ptx::ld_acquire_gpu_u32(counter.data()) < 4) {
    }
    const Lanes<std::uint64_t> offset = device::lane_index() * 4u;
    ptx::st_global_u32(out.data(), offset, ptx::ld_global_u32(sum.data(), offset));
  };
  auto reset = [&] {
    sum.assign(32, 1.0f);
    counter.assign(4, 0);
  };
  expect_good(config, kernel, reset, [&] { ASSERT_EQ(out[9], 37.0f); });
  expect_found(config, {FaultPoint::kBulkWaitGroup}, {Rule::kReductionMixed}, kernel, reset);
}

}  // namespace
}  // namespace megakittens::emulator
