// A page of shared memory that changes hands inside a CTA (rows 3 and 7).
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::one_lane;

// Warp 0 fills a page by ordinary stores, stores it in bulk if asked, and gives it to warp 1, which bulk-loads over it.
struct Page {
  bool stored;
  std::vector<std::uint32_t> in = std::vector<std::uint32_t>(32, 4), out = std::vector<std::uint32_t>(32);

  LaunchConfig config() {
    LaunchConfig c;
    c.warps = 2;
    c.shared_bytes = 2048;
    c.buffers = {buffer("in", in, Contents::kReadOnly), buffer("out", out, Contents::kUnwritten)};
    return c;
  }
  void operator()() const {
    const std::uint32_t full = ptx::dynamic_shared_base(), empty = full + 8, page = full + 1024;
    set_up([&] {
      ptx::mbarrier_init(full, 1);
      ptx::mbarrier_init(empty, 1);
    });
    if (device::host::warp_index() == 0) {
      ptx::st_shared_u32(page + device::lane_index() * 4u, device::lane_index());
      ptx::fence_proxy_async_shared_cta();
      one_lane([&] {
        if (stored) {
          ptx::cp_async_bulk_s2g(const_cast<std::uint32_t*>(out.data()), page, 128);
          ptx::cp_async_bulk_commit_group();
          ptx::cp_async_bulk_wait_group_read<0>();
        }
        ptx::mbarrier_arrive(empty);
      });
      return;
    }
    wait(empty, 0);
    one_lane([&] {
      ptx::mbarrier_arrive_expect_tx(full, 128);
      ptx::cp_async_bulk_g2s(page, in.data(), 128, full);
    });
    wait(full, 0);
  }
};

TEST(Pages, written_by_ordinary_stores_need_the_writers_fence_before_a_bulk_load) {
  Page page{false};
  expect_good(page.config(), page, [] {}, [] {});
  expect_found(page.config(), {FaultPoint::kFenceProxyAsyncShared}, {Rule::kWriterFence}, page, [] {});
}

TEST(Pages, under_a_bulk_store_are_free_after_wait_group_read) {
  Page page{true};
  expect_good(page.config(), page, [] {}, [&] { ASSERT_EQ(page.out[31], 31u); });
  // If the load comes first, the store reads bytes that it did not wait for.
  expect_found(page.config(), {FaultPoint::kBulkWaitGroupRead}, {Rule::kReleasedUnderStore, Rule::kUnwaitedLoad}, page,
               [] {});
}

TEST(Pages, fenced_by_one_lane_leave_the_stores_of_the_other_lanes_unfenced) {
  Page page{true};
  const auto kernel = [&] {
    const std::uint32_t base = ptx::dynamic_shared_base();
    ptx::st_shared_u32(base + device::lane_index() * 4u, device::lane_index());
    one_lane([&] {
      ptx::fence_proxy_async_shared_cta();
      ptx::cp_async_bulk_s2g(page.out.data(), base, 128);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group<0>();
    });
  };
  LaunchConfig config = page.config();
  config.warps = 1;
  const Report report = run(config, kernel);
  EXPECT_TRUE(report.has(Rule::kProxyFenceShared)) << report.text();
}

}  // namespace
}  // namespace megakittens::emulator
