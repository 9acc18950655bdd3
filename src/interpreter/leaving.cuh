// How a CTA leaves a launch, and what the outputs of one that fails are filled with. A launch that gave up has written
// some of its outputs, and who reads them may ask no error: so one of its CTAs fills them all, behind every other. So
// where the workspace was busy, which some CTAs may not have noticed. A launch behind an abort wrote nothing: each CTA
// fills a share.
#pragma once

#include "interpreter/entry.cuh"

namespace megakittens::interpreter {

using device::Lanes;
using device::Layout;

/// Where a storage begins, by its number on the device.
template <class B>
MK_DEVICE uint64_t storage_address(const Context<B>& c, uint32_t storage) {
  if (storage < c.launch.call_storages)
    return device::lane_value<uint64_t>(device::look_up(c.launch.storage_of_call, Lanes<uint32_t>(storage)));
  return reinterpret_cast<uint64_t>(device::constant(c.launch.storages + storage));
}

/// Sets every bit of the launch's outputs, share `part` of `parts`. A whole warp.
template <class B>
MK_DEVICE void fill_outputs(const Context<B>& c, uint32_t part, uint32_t parts) {
  const Lanes<uint64_t> lane = device::convert<uint64_t>(device::lane_index());
  const device::Words<4> ones{{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}};
  MK_ROLLED for (uint32_t k = 0; k < c.launch.output_count; ++k) {
    const program::OutputRecord& output = c.launch.outputs[k];
    const uint32_t storage = device::constant(&output.storage);
    const uint64_t vectors = device::constant(&output.bytes) / 16;
    const uint64_t stride = uint64_t{device::kWarpLanes} * parts;
    auto* base = reinterpret_cast<char*>(storage_address(c, storage));
    MK_ROLLED for (uint64_t at = uint64_t{device::kWarpLanes} * part; at < vectors; at += stride)
        ptx::st_global_v4(base, (lane + at) * uint64_t{16}, ones, lane + at < vectors);
  }
}

/// In a warp's note of the wait that expired (note_address) where none has, and yet the warp left its role early.
inline constexpr uint32_t kLeftEarly = 0x100;

/// A warp that leaves its role early: what it wrote is complete before the CTA counts as gone (row 8). One lane.
template <class B>
MK_DEVICE void give_up(const Context<B>& c) {
  if (c.role == device::Role::storer) ptx::cp_async_bulk_wait_group<0>();
  if (report_abort(c)) return;
  ptx::st_shared_u32(note_address(c), kLeftEarly);
}

/// Whether any warp of the CTA left its role early. A whole warp.
template <class B>
MK_DEVICE bool gave_up(const Context<B>& c) {
  const Lanes<uint32_t> warp = device::select(device::lane_index() < B::kWarps, device::lane_index(), 0u);
  return device::any(ptx::ld_shared_u32(warp * 16 + (c.base + Layout<B>::kExpired)) != 0u);
}

/// Clocks that a CTA may work on after another has given up, before it waits for something: a second or more.
inline constexpr uint64_t kWorksOn = uint64_t{1} << 31;

/// Gives bulk loads that nobody will wait for 64 us, nominally, to land: the CTA's shared memory is about to be
/// another's. One lane.
MK_DEVICE void let_loads_land() {
  MK_ROLLED for (uint32_t n = 0; n < 32; ++n) ptx::nanosleep(2000);
}

/// Waits until every CTA of this launch has left. A wait finds the abort within wait_limit: who takes longer than that
/// and kWorksOn is no longer waited for. Acquires what those that gave up wrote, right or not (rows 8 and 10). One
/// lane.
template <class B>
MK_DEVICE void wait_for_the_others(const Context<B>& c) {
  const uint32_t grid = ptx::nctaid_x();
  const uint64_t start = ptx::clock64();
  device::note_wait("the launch's CTAs to leave", uint64_t{c.epoch + 1} * grid);
  while (ptx::ld_acquire_gpu_u32(&c.launch.control->left) - c.epoch * grid < grid)
    if (ptx::clock64() - start > c.launch.wait_limit + kWorksOn) return;
}

/// Counts the CTA as gone, behind its last barrier. The controller's warp.
template <class B>
MK_DEVICE void leave(const Context<B>& c) {
  program::Control* control = c.launch.control;
  const auto admission = static_cast<Admission>(device::shared_word(c.base + Layout<B>::kAdmission));
  if (admission == Admission::runs && !gave_up(c)) {
    // Relaxed, because launches are ordered by their stream. Where another CTA gives up, what this one's stores may yet
    // bring was computed from what it waited for.
    device::one_lane([&] { ptx::red_relaxed_gpu_add_u32(&control->left, 1); });
    return;
  }
  annotate_instruction(c, [] { return int64_t{-1}; });  // none's
  const bool behind = admission == Admission::aborted;
  const uint32_t fills = device::one_lane_value([&] {
    ptx::red_release_gpu_add_u32(&control->left, 1);
    if (behind) return 1u;
    let_loads_land();
    if (ptx::atom_relaxed_gpu_cas_u32(&control->record.filler[c.epoch & 1], 0, 1) != 0) return 0u;
    wait_for_the_others(c);
    return 1u;
  });
  if (fills != 0) fill_outputs(c, behind ? ptx::ctaid_x() : 0, behind ? ptx::nctaid_x() : 1);
}

}  // namespace megakittens::interpreter
