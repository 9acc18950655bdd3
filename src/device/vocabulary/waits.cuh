// Bounded waits. After one that expires every wait of this role returns at once; as it leaves, the role writes the
// launch's record and raises the abort word, which the others notice in their own slow paths.
#pragma once

#include "device/vocabulary/context.cuh"

namespace megakittens::device {

/// Where a warp notes the wait that expired: kind and slot, what, value, target. Kind 0: none has.
template <class B>
MK_DEVICE uint32_t note_address(const Context<B>& c) {
  return c.base + Layout<B>::kExpired + 16 * c.warp;
}

/// Records the wait and gives up. The note is short because every wait holds a copy of it; report_abort comes later.
template <class B>
MK_DEVICE void expire(Context<B>& c, WaitKind kind, uint32_t what, uint32_t value, uint32_t target) {
  c.aborted = true;
  ptx::st_shared_u32(note_address(c), static_cast<uint32_t>(kind) | c.slot() << 8);
  ptx::st_shared_u32(note_address(c) + 4, what);
  ptx::st_shared_u32(note_address(c) + 8, value);
  ptx::st_shared_u32(note_address(c) + 12, target);
}

/// Where one of the warp's waits expired: claims the launch's record, if nobody has, and raises the abort word. Once,
/// when the warp leaves its role. Whether one expired. One lane.
template <class B>
MK_DEVICE bool report_abort(const Context<B>& c) {
  const uint32_t note = shared_word(note_address(c)), kind = note & 255;
  if (kind == 0) return false;
  program::Control* control = c.launch.control;
  if (ptx::atom_relaxed_gpu_cas_u32(&control->record.claimed, 0, 1) == 0) {
    program::AbortRecord& r = control->record;
    ptx::st_relaxed_gpu_u32(&r.cta, ptx::ctaid_x());
    ptx::st_relaxed_gpu_u32(&r.sm, ptx::smid());
    ptx::st_relaxed_gpu_u32(&r.role, static_cast<uint32_t>(c.role));
    ptx::st_relaxed_gpu_u32(&r.warp, c.warp);
    // The slot still holds the instruction: this warp has not reported its end.
    const uint32_t words = c.base + Layout<B>::kSlots + (note >> 8) * Layout<B>::kSlotBytes;
    const bool known =
        kind != static_cast<uint32_t>(WaitKind::busy) && kind != static_cast<uint32_t>(WaitKind::slot_ready);
    ptx::st_relaxed_gpu_u32(&r.instruction, known ? shared_word(words + 4 * program::kWordNumber) : 0xffffffffu);
    ptx::st_relaxed_gpu_u32(&r.node, known ? shared_word(words + 4 * program::kWordNode) : 0xffffffffu);
    ptx::st_relaxed_gpu_u32(&r.kind, kind);
    ptx::st_relaxed_gpu_u32(&r.what, shared_word(note_address(c) + 4));
    ptx::st_relaxed_gpu_u32(&r.value, shared_word(note_address(c) + 8));
    ptx::st_relaxed_gpu_u32(&r.target, shared_word(note_address(c) + 12));
  }
  ptx::st_release_gpu_u32(&control->abort, 1);
  if (c.launch.alarm != nullptr) ptx::st_relaxed_sys_u32(c.launch.alarm, 1);
  return true;
}

/// Tries between two looks at the clock and the abort word.
inline constexpr uint32_t kTriesPerLook = 64;

/// Phase numbers count an mbarrier's completions from 0; the one before the first, 2^32 - 1, counts as completed.
template <class B>
MK_DEVICE bool try_phase(uint32_t barrier, uint32_t phase) {
  mean_phase(phase);
  return ptx::mbarrier_try_wait_parity(barrier, phase & 1);
}

/// Waits until `ready()` holds; after twice the limit `late()` notes what for. In one lane, or in a warp whose lanes
/// agree: `agree(x)` is whether x holds in any of them.
template <class B, class Ready, class Late, class Agree>
MK_DEVICE void wait_until(Context<B>& c, Ready&& ready, Late&& late, Agree&& agree) {
  if (c.aborted || ready()) return;
  const uint64_t start = ptx::clock64();
  while (true) {
    MK_ROLLED for (uint32_t n = 0; n < kTriesPerLook; ++n) if (ready()) return;
    if (agree(ptx::ld_relaxed_gpu_u32(&c.launch.control->abort) != 0)) {
      c.aborted = true;
      return;
    }
    // Twice as patient as waits for counters: what a CTA waits for inside itself mostly hangs on one of those, and the
    // record should name it.
    if (agree(ptx::clock64() - start > 2 * c.launch.wait_limit)) return late();
  }
}

/// One lane's wait until `ready()` holds.
template <class B, class Ready, class Late>
MK_DEVICE void wait_until_lane(Context<B>& c, Ready&& ready, Late&& late) {
  wait_until(c, ready, late, [](bool x) MK_INLINE { return x; });
}

/// One lane's wait until that phase has completed. Parity tells two phases apart: the caller knows by other means that
/// the one before has completed.
template <class B>
MK_DEVICE void wait_lane(Context<B>& c, uint32_t barrier, uint32_t phase, WaitKind kind, uint32_t what = 0) {
  wait_until_lane(
      c, [&]() MK_INLINE { return try_phase<B>(barrier, phase); },
      [&]() MK_INLINE { expire(c, kind, what, 0, phase); });
}

/// A whole warp's wait; its lanes leave together.
template <class B>
MK_DEVICE void wait_warp(Context<B>& c, uint32_t barrier, uint32_t phase, WaitKind kind, uint32_t what = 0) {
  wait_until(
      c, [&]() MK_INLINE { return all(Lanes<bool>(try_phase<B>(barrier, phase))); },
      [&]() MK_INLINE { expire(c, kind, what, 0, phase); }, [](bool x) MK_INLINE { return any(Lanes<bool>(x)); });
}

/// One lane's wait for counter words: the `guard` bits choose which of the instruction's waits.
/// Acquires at GPU scope (rows 8 to 12); a bulk load behind it needs fence_proxy_async_global as well.
template <class B>
MK_DEVICE bool wait_counters(Context<B>& c, uint32_t guard) {
  bool waited = false;
  const uint32_t count = c.wait_count();
  MK_ROLLED for (uint32_t w = 0; w < count; ++w) {
    if ((c.guard(w) & guard) == 0) continue;
    if (c.aborted) return true;
    waited = true;
    const uint32_t at = program::kWordWaits + 3 * w;
    const uint32_t counter = c.word(at), needed = c.word(at + 1), arrivals = c.word(at + 2);
    const uint32_t target = shared_word(c.base + Layout<B>::kEpoch) * arrivals + needed;
    const uint32_t* address = c.launch.counters + uint64_t{counter} * program::kCounterStride;
    note_wait("the counter", target);
    const uint64_t start = ptx::clock64();
    while (true) {
      const uint32_t value = ptx::ld_acquire_gpu_u32(address);
      // Compared modulo 2^32: a counter that has gone past its target still passes.
      if (static_cast<int32_t>(value - target) >= 0) break;
      if (ptx::clock64() - start <= c.launch.wait_limit) continue;
      if (ptx::ld_relaxed_gpu_u32(&c.launch.control->abort) != 0)
        c.aborted = true;
      else
        expire(c, WaitKind::counter, counter, value, target);
      return true;
    }
  }
  return waited;
}

/// Raises the instruction's counters by one each. One lane, after every write of the instruction is complete and
/// ordered before this lane (rows 8 and 10).
template <class B>
MK_DEVICE void arrive_counters(Context<B>& c) {
  if (c.aborted) return;
  const uint32_t count = c.arrival_count();
  MK_ROLLED for (uint32_t a = 0; a < count; ++a) ptx::red_release_gpu_add_u32(
      c.launch.counters + uint64_t{c.word(program::kWordArrivals + a)} * program::kCounterStride, 1);
}

}  // namespace megakittens::device
