// How a CTA enters a launch: its ticket, the launch's number, and whether the launch may run at all.
#pragma once

#include "device/vocabulary/waits.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::WaitKind;

/// What a CTA reads of the workspace's words as it enters. In one lane.
struct Entry {
  uint32_t abort;
  uint32_t ticket;
  uint32_t launches;
  uint32_t left;
};

/// Takes this CTA's ticket. Relaxed: launches on a workspace follow each other in a stream, which orders their memory;
/// one that breaks this and overlaps is found by these words' values. The trips to memory are made at once, and nobody
/// waits for them here.
template <class B>
MK_DEVICE Entry take_ticket(const Context<B>& c) {
  program::Control* control = c.launch.control;
  Entry entry;
  entry.abort = ptx::ld_relaxed_gpu_u32(&control->abort);
  const bool first = ptx::ctaid_x() == 0;
  entry.ticket = ptx::atom_relaxed_gpu_add_u32(&control->ticket, first ? program::kTickets + 1 - ptx::nctaid_x() : 1);
  if (first) ptx::red_relaxed_gpu_add_u32(&control->launches, 1);
  entry.launches = ptx::ld_relaxed_gpu_u32(&control->launches);
  entry.left = ptx::ld_relaxed_gpu_u32(&control->left);
  return entry;
}

/// The number of the CTA's launch: the launches that began have its ticket's bits, or this one is among them already.
MK_DEVICE uint32_t launch_number(const Entry& entry) {
  const uint32_t known = 0xffffffffu >> program::kTicketBits;
  return entry.launches - ((entry.launches - (entry.ticket >> program::kTicketBits)) & known);
}

enum class Admission : uint32_t {
  aborted,  ///< an earlier launch gave up, or this one before this CTA came
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

}  // namespace megakittens::interpreter
