#include "support/gpu_faults.hpp"

#include <algorithm>
#include <iterator>

#include "support/error.hpp"

namespace megakittens::test {
namespace {

constexpr std::string_view kPages = "device/vocabulary/pages.cuh", kWaits = "device/vocabulary/waits.cuh",
                           kKernel = "interpreter/kernel.cuh", kRoles = "interpreter/roles.cuh",
                           kController = "interpreter/controller.cuh", kNode = "interpreter/node_registers.cuh",
                           kTiles = "ops/elementwise/device.cuh", kOperands = "ops/gemm/operands.cuh",
                           kGemm = "ops/gemm/sm90.cuh", kOthers = "ops/gemm/sm90_tiles.cuh",
                           kCopies = "ops/gemm/sm90_copies.cuh", kGeneral = "ops/gemm/sm90_general.cuh";

struct Row {
  std::string_view fault;
  SourceEdit edit;
};

// Functions are cut short behind their heads, which change less often than their bodies.
#define MK_WAIT_STAGE_FULL "MK_DEVICE void wait_stage_full_warp(Context<B>& c, uint32_t n) {"
#define MK_WAIT_STAGE_FREE "MK_DEVICE void wait_stage_free(Context<B>& c, uint32_t n, uint32_t depth) {"
#define MK_WAIT_PAGE "MK_DEVICE void wait_physical_page(Context<B>& c, uint32_t page) {"
#define MK_FINISH_PAGE "MK_DEVICE void finish_page(Context<B>& c, uint32_t lid, uint32_t arrivals = kPageArrivals) {"
#define MK_WAIT_WRITABLE "MK_DEVICE void wait_writable_warp(Context<B>& c) {"
#define MK_WAIT_COUNTERS "MK_DEVICE bool wait_counters(Context<B>& c, uint32_t guard) {"
#define MK_STAGE_AND_PAGE "return stage_ready() & page_ready();"
#define MK_ACQUIRE "ptx::ld_acquire_gpu_u32(address)"
#define MK_ACQUIRE_UNLESS(ROLE) "(c.role == Role::" ROLE " ? ptx::ld_relaxed_gpu_u32(address) : " MK_ACQUIRE ")"
#define MK_GLOBAL_FENCE "kGuardWrite)) ptx::fence_proxy_async_global();"

constexpr Row kRows[] = {
    {"no-fence-before-loading-ordinary-stores", {kOperands, MK_GLOBAL_FENCE, "kGuardWrite)) {}"}},
    {"no-fence-before-loading-ordinary-stores", {kCopies, MK_GLOBAL_FENCE, "kGuardWrite)) {}"}},
    {"no-fence-before-loading-ordinary-stores", {kTiles, MK_GLOBAL_FENCE, "kGuardWrite)) {}"}},
    {"no-fence-behind-gathered-operands", {kTiles, "ptx::fence_proxy_async_shared_cta();", ""}},
    {"no-fence-before-tensor-core", {kGeneral, "ptx::fence_proxy_async_shared_cta();", ""}},
    {"no-fence-after-mbarrier-init", {kKernel, "ptx::fence_mbarrier_init_release_cluster();", ""}},
    {"no-fence-for-tensor-maps",
     {kNode, "ptx::fence_proxy_tensormap_acquire_sys(maps, map, bulk && !map_of_call);", ""}},
    {"stage-released-before-wgmma-retires", {kGemm, "ptx::wgmma_wait_group<1>();", ""}},
    {"stage-released-before-wgmma-retires", {kOthers, "ptx::wgmma_wait_group<1>();", ""}},
    {"no-wgmma-fence", {kGemm, "ptx::wgmma_fence();", ""}},
    {"no-wgmma-fence", {kOthers, "ptx::wgmma_fence();", ""}},
    {"no-wgmma-fence", {kGeneral, "ptx::wgmma_fence();", ""}},
    {"stage-read-before-it-is-full", {kPages, MK_WAIT_STAGE_FULL, MK_WAIT_STAGE_FULL " return;"}},
    {"stage-refilled-before-it-is-free",
     {kPages, MK_WAIT_STAGE_FREE, MK_WAIT_STAGE_FREE " if (c.role == Role::loader) return;"}},
    {"stage-refilled-before-it-is-free",
     {kPages, MK_STAGE_AND_PAGE, "return (c.role == Role::loader || stage_ready()) & page_ready();"}},
    {"page-loaded-without-its-token", {kPages, MK_WAIT_PAGE, MK_WAIT_PAGE " if (c.role == Role::loader) return;"}},
    {"page-loaded-without-its-token",
     {kPages, MK_STAGE_AND_PAGE, "return stage_ready() & (c.role == Role::loader || page_ready());"}},
    {"page-taken-without-its-token", {kPages, MK_WAIT_PAGE, MK_WAIT_PAGE " if (c.role == Role::loader) return;"}},
    {"page-taken-without-its-token",
     {kPages, MK_STAGE_AND_PAGE, "return stage_ready() & (c.role == Role::loader || page_ready());"}},
    {"page-finished-twice",
     {kPages, MK_FINISH_PAGE,
      MK_FINISH_PAGE " if (c.role == Role::storer && !c.aborted)"
                     " ptx::mbarrier_arrive(c.base + Layout<B>::kPageFree + 8 * c.page(lid), arrivals);"}},
    {"page-never-finished", {kPages, MK_FINISH_PAGE, MK_FINISH_PAGE " if (c.role == Role::storer) return;"}},
    {"too-few-bytes-expected",
     {kPages, "ptx::mbarrier_arrive_expect_tx(stage_full(c, n), bytes);",
      "ptx::mbarrier_arrive_expect_tx(stage_full(c, n), bytes / 2);"}},
    {"slot-overwritten-under-its-roles", {kController, "if (turn > 0) wait_warp(", "if (false) wait_warp("}},
    {"set-up-not-awaited",
     {kKernel, "Set::template begin_cta<B>(c);\n  ptx::bar_sync_all();", "Set::template begin_cta<B>(c);\n"}},
    {"arrival-without-release", {kWaits, "ptx::red_release_gpu_add_u32(", "ptx::red_relaxed_gpu_add_u32("}},
    {"wait-without-acquire", {kWaits, MK_ACQUIRE, MK_ACQUIRE_UNLESS("follower")}},
    {"bulk-load-without-acquire", {kWaits, MK_ACQUIRE, MK_ACQUIRE_UNLESS("follower")}},
    {"reuse-wait-without-acquire", {kWaits, MK_ACQUIRE, MK_ACQUIRE_UNLESS("storer")}},
    {"dependency-not-awaited",
     {kWaits, MK_WAIT_COUNTERS, MK_WAIT_COUNTERS " if (c.role == Role::follower) return true;"}},
    {"reuse-not-awaited-by-bulk-store",
     {kWaits, MK_WAIT_COUNTERS, MK_WAIT_COUNTERS " if (c.role == Role::storer) return true;"}},
    {"write-before-reuse-wait", {kPages, MK_WAIT_WRITABLE, MK_WAIT_WRITABLE " return;"}},
    {"arrival-before-the-writes",
     {kRoles, "wait_lane(c, slot_barrier(c, Layout<B>::kWritten), c.iteration / B::kSlots, WaitKind::written);", ""}},
    {"counter-compared-with-==", {kWaits, "static_cast<int32_t>(value - target) >= 0", "value == target"}},
    // Every launch counts from zero, which only the first on a workspace may.
    {"counters-left-over", {kWaits, "shared_word(c.base + Layout<B>::kEpoch) * arrivals + needed", "needed"}},
};

struct Left {
  std::string_view fault;
  std::string_view reason;
};
constexpr std::string_view kBlackwell = "only Blackwell has the instruction, and no such GPU was at hand";
constexpr Left kLeft[] = {
    {"commit-before-products-are-done", kBlackwell},
    {"accumulator-announced-early", kBlackwell},
    {"no-wait-for-tensor-loads", kBlackwell},
    {"no-fence-before-giving-tensor-memory-back", kBlackwell},
    {"no-fence-after-taking-tensor-memory", kBlackwell},
    {"no-fence-before-reading-the-accumulator", kBlackwell},
    {"products-issued-before-stage-is-full", kBlackwell},
    {"accumulator-overwritten-under-its-readers", kBlackwell},
    {"page-maps-of-a-pair-differ", "only programs for Blackwell have pairs, and no such GPU was at hand"},
    {"no-wgmma-fence", "the assembler puts the fence back: the machine code is that of the unfaulted build"},
    {"region-shrunk", "the regions are declared to the checker; a GPU never sees them"},
};

}  // namespace

std::vector<GpuFault> gpu_faults() {
  std::vector<GpuFault> faults;
  std::size_t rows = 0, left_out = 0;
  for (const emulator::NamedFault& named : emulator::named_faults()) {
    GpuFault fault{named.name};
    for (const Row& row : kRows)
      if (row.fault == named.name) fault.edits.push_back(row.edit);
    const auto* left = std::ranges::find(kLeft, named.name, &Left::fault);
    if (left != std::end(kLeft)) fault.reason = left->reason;
    MK_CHECK(!named.in_twins || !fault.edits.empty() || !fault.reason.empty(),
             "fault '{}' of device code needs edits, or a reason for having none", named.name);
    rows += fault.edits.size();
    left_out += fault.reason.empty() ? 0 : 1;
    faults.push_back(std::move(fault));
  }
  MK_CHECK(rows == std::size(kRows) && left_out == std::size(kLeft), "a row is of a fault that nobody knows");
  return faults;
}

}  // namespace megakittens::test
