// How a CTA enters a launch: its ticket, the launch's number, whether the launch may run at all, and what it leaves
// where it may not.
#pragma once

#include "device/vocabulary/waits.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Lanes;
using device::WaitKind;

/// What a CTA reads of the workspace's words as it enters. In one lane.
struct Entry {
  uint32_t abort;
  uint32_t ticket;
  uint32_t left;
};

/// Where a storage begins, by its number on the device.
template <class B>
MK_DEVICE uint64_t storage_address(const Context<B>& c, uint32_t storage) {
  if (storage < c.launch.call_storages)
    return device::lane_value<uint64_t>(device::look_up(c.launch.storage_of_call, Lanes<uint32_t>(storage)));
  return reinterpret_cast<uint64_t>(device::constant(c.launch.storages + storage));
}

/// Takes this CTA's ticket. Relaxed: launches on a workspace follow each other in a stream, which orders their memory;
/// one that breaks this and overlaps is found by these words' values. The three trips to memory are made at once, and
/// nobody waits for them here.
template <class B>
MK_DEVICE Entry take_ticket(const Context<B>& c) {
  program::Control* control = c.launch.control;
  Entry entry;
  entry.abort = ptx::ld_relaxed_gpu_u32(&control->abort);
  entry.ticket = ptx::atom_relaxed_gpu_add_u32(&control->ticket, 1);
  entry.left = ptx::ld_relaxed_gpu_u32(&control->left);
  return entry;
}

enum class Admission : uint32_t {
  aborted,  ///< an earlier launch gave up
  runs,
  busy,  ///< an earlier launch is still running: this one gives up
};

/// Whether the launch, whose number is c.epoch, may run. One lane.
template <class B>
MK_DEVICE Admission admit(Context<B>& c, const Entry& entry) {
  if (entry.abort != 0) return Admission::aborted;
  // CTAs of this launch may have left already; those of the launches before must all have.
  const uint32_t grid = ptx::nctaid_x();
  const uint32_t left = entry.left - c.epoch * grid;
  if (left < grid) return Admission::runs;
  expire(c, WaitKind::busy, 0, left, c.epoch * grid);
  report_abort(c);
  c.aborted = false;  // it has given nothing up: it runs an empty list
  return Admission::busy;
}

/// This CTA's share of what a launch leaves that found an earlier one's abort: outputs with every bit set. The host
/// tells of an abort at the next call only, and a replay of a captured graph is none. A whole warp.
template <class B>
MK_DEVICE void poison_outputs(const Context<B>& c) {
  const Lanes<uint64_t> lane = device::convert<uint64_t>(device::lane_index());
  const device::Words<4> ones{{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}};
  MK_ROLLED for (uint32_t k = 0; k < c.launch.output_count; ++k) {
    const program::OutputRecord& output = c.launch.outputs[k];
    const uint32_t storage = device::constant(&output.storage);
    const uint64_t bytes = device::constant(&output.bytes), vectors = bytes / 16;
    const uint64_t stride = uint64_t{device::kWarpLanes} * ptx::nctaid_x();
    auto* base = reinterpret_cast<char*>(storage_address(c, storage));
    MK_ROLLED for (uint64_t at = uint64_t{device::kWarpLanes} * ptx::ctaid_x(); at < vectors; at += stride)
        ptx::st_global_v4(base, (lane + at) * uint64_t{16}, ones, lane + at < vectors);
    if (ptx::ctaid_x() == 0)
      ptx::st_global_u8(base, lane + vectors * 16, Lanes<uint8_t>(uint8_t{0xff}), lane + vectors * 16 < bytes);
  }
}

}  // namespace megakittens::interpreter
