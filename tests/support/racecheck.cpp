#include "support/racecheck.hpp"

namespace megakittens::test {
namespace {

constexpr std::string_view kMbarrier = "device/ptx/mbarrier.cuh", kArrivals = "device/vocabulary/arrivals.cuh",
                           kController = "interpreter/controller.cuh", kStaging = "ops/gemm/staging.cuh";

/// Instead of one_lane, whose barriers stay.
constexpr std::string_view kEachLane = "ptx::syncwarp();\n  arrive(ptx::kInParts | 1u);\n  ptx::syncwarp();";

}  // namespace

std::vector<SourceEdit> racecheck_edits() {
  return {
      // A count with the bit kInParts is in 32nds already. An mbarrier holds counts up to 2^20 - 1; the largest here is
      // that of slot_done, 32 times Layout::kDoneArrivals.
      {kMbarrier, "namespace megakittens::ptx {\n", R"(namespace megakittens::ptx {

inline constexpr uint32_t kParts = 32, kInParts = 0x80000000u;
MK_DEVICE uint32_t parts(uint32_t count) {
  return (count & kInParts) != 0 ? count & ~kInParts : count * kParts;
}
)"},
      {kMbarrier, R"("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count))",
       R"("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(parts(count)))"},
      {kMbarrier, R"("mbarrier.arrive.shared::cta.b64 _, [%0];")", R"("mbarrier.arrive.shared::cta.b64 _, [%0], 32;")"},
      {kMbarrier, R"("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count))",
       R"("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(parts(count)))"},
      // This instruction arrives once, whatever its bytes. The other 31 stand before it, so that the phase cannot
      // complete without it.
      {kMbarrier, R"(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64)",
       R"(asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 31;" ::"r"(barrier) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64)"},
      {kArrivals, "one_lane([&] { arrive(1u); });", kEachLane},
      {kArrivals, "if (c.warp % kWarpgroupArrivals != 0) return;\n  one_lane([&] { arrive(kWarpgroupArrivals); });",
       kEachLane},
      // Behind the barrier that ends one_lane: the one lane's own store comes before its arrival, and the phase
      // completes with the last lane's.
      {kController, R"(    ptx::mbarrier_arrive(c.base + Layout<B>::kSlotReady + 8 * c.slot());
  });)",
       R"(  });
  ptx::mbarrier_arrive(c.base + Layout<B>::kSlotReady + 8 * c.slot(), ptx::kInParts | 1u);)"},
  };
}

std::vector<SourceEdit> racecheck_edits_and_a_race() {
  std::vector<SourceEdit> edits = racecheck_edits();
  edits.push_back({kStaging,
                   "wait_warp(c, c.base + device::Layout<B>::kMeeting, c.meetings++, device::WaitKind::consumers);",
                   "++c.meetings;"});
  return edits;
}

}  // namespace megakittens::test
