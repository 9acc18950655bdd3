#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::Lanes;
using device::one_lane;

// A producer warp bulk-loads blocks into a ring of pages; consumer warps add one to each word and store it to `out`.
struct Ring {
  static constexpr std::uint32_t kStages = 3, kBlocks = 17, kWords = 64, kBytes = kWords * 4, kConsumers = 2;
  std::vector<std::uint32_t> in, out;
  bool release_early = false;  // consumers arrive before they have read

  LaunchConfig config() {
    LaunchConfig c;
    c.warps = 1 + kConsumers;
    c.shared_bytes = 1024 + kStages * kBytes;
    c.buffers = {buffer("in", in, Contents::kReadOnly), buffer("out", out, Contents::kUnwritten)};
    return c;
  }
  void reset() {
    in.resize(kBlocks * kWords);
    for (std::size_t i = 0; i < in.size(); i++) in[i] = static_cast<std::uint32_t>(i * 7);
    out.assign(in.size(), 0);
  }
  void verify() const {
    for (std::size_t i = 0; i < in.size(); i++) ASSERT_EQ(out[i], in[i] + 1) << i;
  }

  static std::uint32_t full(std::uint32_t stage) { return ptx::dynamic_shared_base() + 8 * stage; }
  static std::uint32_t empty(std::uint32_t stage) { return ptx::dynamic_shared_base() + 64 + 8 * stage; }
  static std::uint32_t page(std::uint32_t stage) { return ptx::dynamic_shared_base() + 1024 + stage * kBytes; }

  void produce() const {
    device::annotate("loader", 0);
    for (std::uint32_t b = 0; b < kBlocks; b++) {
      const std::uint32_t s = b % kStages, round = b / kStages;
      wait(empty(s), (round & 1) ^ 1);
      one_lane([&] {
        ptx::mbarrier_arrive_expect_tx(full(s), kBytes);
        ptx::cp_async_bulk_g2s(page(s), in.data() + b * kWords, kBytes, full(s));
      });
    }
  }
  void consume() const {
    device::annotate("consumer", 0);
    const std::uint32_t half = (device::host::warp_index() - 1) * 32;
    const Lanes<std::uint32_t> lane = device::lane_index();
    for (std::uint32_t b = 0; b < kBlocks; b++) {
      const std::uint32_t s = b % kStages, round = b / kStages;
      wait(full(s), round & 1);
      if (release_early) one_lane([&] { ptx::mbarrier_arrive(empty(s)); });
      const Lanes<std::uint32_t> x = ptx::ld_shared_u32(page(s) + half * 4 + lane * 4u);
      if (!release_early) one_lane([&] { ptx::mbarrier_arrive(empty(s)); });
      const Lanes<std::uint64_t> offset = (b * kWords + half + lane) * 4u;
      ptx::st_global_u32(const_cast<std::uint32_t*>(out.data()), offset, x + 1u);
    }
  }
  void operator()() const {
    set_up([] {
      for (std::uint32_t s = 0; s < kStages; s++) {
        ptx::mbarrier_init(full(s), 1);
        ptx::mbarrier_init(empty(s), kConsumers);
        device::name_shared(full(s), "full");
        device::name_shared(empty(s), "empty");
        device::name_shared(page(s), "page");
      }
    });
    if (device::host::warp_index() == 0) {
      produce();
    } else {
      consume();
    }
  }
};

class BulkRing : public testing::Test {
 protected:
  void good(const LaunchConfig& config) {
    expect_good(config, ring, [&] { ring.reset(); }, [&] { ring.verify(); });
  }
  Ring ring;
};

TEST_F(BulkRing, delivers_every_block_in_order_under_every_seed) {
  ring.reset();
  good(ring.config());
}

TEST_F(BulkRing, gives_the_same_run_for_the_same_seed) {
  ring.reset();
  LaunchConfig config = ring.config();
  config.seed = 7;
  const Report first = run(config, ring), second = run(config, ring);
  EXPECT_EQ(first.steps, second.steps);
  EXPECT_EQ(first.switches, second.switches);
}

TEST_F(BulkRing, reading_a_page_without_waiting_for_its_load_is_found) {
  ring.reset();
  PlantedFault fault{FaultPoint::kMbarrierWait};
  fault.role = "consumer";
  fault.nth = 5;
  LaunchConfig config = ring.config();
  config.faults = {fault};
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    config.seed = seed;
    const Report report = run(config, ring);
    ASSERT_TRUE(report.has(Rule::kUnwaitedLoad) || report.has(Rule::kPageOverwritten)) << report.text();
  }
}

TEST_F(BulkRing, overwriting_a_page_that_is_still_read_is_found) {
  ring.reset();
  ring.release_early = true;
  LaunchConfig config = ring.config();
  for (std::uint64_t seed = 1; seed <= kSeeds; seed++) {
    config.seed = seed;
    const Report report = run(config, ring);
    // Which of the two accesses comes first is up to the schedule.
    ASSERT_TRUE(report.has(Rule::kPageOverwritten) || report.has(Rule::kUnwaitedLoad)) << report.text();
  }
}

TEST_F(BulkRing, a_strict_run_wants_the_readers_fence) {
  ring.reset();
  LaunchConfig config = ring.config();
  config.strict = true;
  const Report report = run(config, ring);
  EXPECT_TRUE(report.has(Rule::kReaderFence)) << report.text();
  EXPECT_EQ(report.findings.size(), 1u) << report.text();
}

TEST_F(BulkRing, a_finding_names_both_accesses_with_role_and_place) {
  ring.reset();
  LaunchConfig config = ring.config();
  config.strict = true;
  const Report report = run(config, ring);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_THAT(report.findings[0].text,
              testing::AllOf(testing::HasSubstr("row 2"),
                             testing::HasSubstr("bulk load of CTA 0 warp 0 (loader, instruction 0) writes"),
                             testing::HasSubstr("ordinary load of CTA 0 warp"),
                             testing::HasSubstr("(consumer, instruction 0) read it"),
                             testing::HasSubstr("'page' + 0x0"), testing::HasSubstr("shared memory of CTA 0")));
}

}  // namespace
}  // namespace megakittens::emulator
