#include "support/racecheck.hpp"

namespace megakittens::test {
namespace {

constexpr std::string_view kMbarrier = "device/ptx/mbarrier.cuh", kArrivals = "device/vocabulary/arrivals.cuh",
                           kController = "interpreter/controller.cuh";

/// Instead of one_lane, whose barriers stay.
constexpr std::string_view kEachLane = "ptx::syncwarp();\n  arrive(ptx::kInParts | 1u);\n  ptx::syncwarp();";

}  // namespace

std::vector<SourceEdit> racecheck_edits() {
  return {
      // A count with the bit kInParts is in 32nds already. The largest of all, 32 times 12, is far from the 2^20 - 1
      // that
      // an mbarrier holds.
      {kMbarrier, "namespace megakittens::ptx {\n", R"(namespace megakittens::ptx {

inline constexpr uint32_t kParts = 32, kInParts = 0x80000000u;
MK_DEVICE uint32_t parts(uint32_t count) {
  return (count & kInParts) != 0 ? count & ~kInParts : count * kParts;
}
)"},
      {kMbarrier, R"([%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

/// sm_80. PTX: "mbarrier.inval".)",
       R"([%0], %1;" ::"r"(barrier), "r"(parts(count)) : "memory");
}

/// sm_80. PTX: "mbarrier.inval".)"},
      {kMbarrier, R"("mbarrier.arrive.shared::cta.b64 _, [%0];")", R"("mbarrier.arrive.shared::cta.b64 _, [%0], 32;")"},
      {kMbarrier, R"("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count))",
       R"("mbarrier.arrive.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(parts(count)))"},
      // This instruction arrives once, whatever its bytes: it has to be the last of the 32, or the phase could complete
      // before it knows of them.
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

}  // namespace megakittens::test
