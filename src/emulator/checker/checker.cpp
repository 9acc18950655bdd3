#include "emulator/checker/checker.hpp"

#include "emulator/cta.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kNoRecord = 0;

bool is_ordinary(const Record& record) {
  return record.component < component::kMaxWarps;
}

bool is_product(Operation operation) {
  return operation == Operation::kTcgenMma || operation == Operation::kTcgenCopy;
}

}  // namespace

Checker::Checker(Findings& findings, bool strict, Declared* declared)
    : findings_(findings), strict_(strict), declared_(declared) {
  records_.push_back({0, 0, 0, 0, Operation::kLoad});  // number 0 is nobody
  recent_.resize(kRecent, kNoRecord);
  contexts_.push_back({0, 0, nullptr, -1});  // so is context 0
}

std::uint32_t Checker::context_of(const Context& context) {
  contexts_.push_back(context);
  return static_cast<std::uint32_t>(contexts_.size() - 1);
}

std::uint32_t Checker::number_of(const Record& record) {
  const std::uint32_t hash =
      record.cta * 2654435761u ^ record.component * 40503u ^ static_cast<std::uint32_t>(record.operation) * 97u;
  std::uint32_t& slot = recent_[hash % kRecent];
  const Record& last = records_[slot];
  if (slot != kNoRecord && last.cta == record.cta && last.component == record.component && last.tick == record.tick &&
      last.context == record.context && last.operation == record.operation) {
    return slot;
  }
  records_.push_back(record);
  return slot = static_cast<std::uint32_t>(records_.size() - 1);
}

Access Checker::ordinary(const Warp& warp, Operation operation, bool write) const {
  const std::uint16_t own = static_cast<std::uint16_t>(component::kWarp + warp.index);
  const std::uint16_t cta = static_cast<std::uint16_t>(warp.cta->index);
  return {&warp.view, cta, {cta, own, warp.view.local.get(own), warp.context, operation}, write};
}

bool Checker::knows(const View& view, std::uint16_t view_cta, std::uint16_t cta, std::uint32_t part,
                    std::uint32_t tick) const {
  if (cta == view_cta) return view.local.get(part) >= tick;
  return releases_.knows(view.foreign, cta, part, tick, false);
}

bool Checker::sees(const Region& region, const Access& access, const Record& before, bool before_write) const {
  const View& view = *access.view;
  const bool same_cta = before.cta == access.view_cta;
  if (before.operation == Operation::kConstantLoad || access.record.operation == Operation::kConstantLoad) return false;
  if (region.space == Space::kTensor) {
    // Products of one CTA run in issue order; ld and st of a warp only after its own wait; the rest needs both fences.
    if (same_cta && before.component == component::kTcgen && is_product(access.record.operation)) return true;
    if (same_cta && before.component == access.record.component) return before.tick <= access.own_seen;
    if (same_cta) return view.tensor.get(before.component) >= before.tick;
    return releases_.knows(view.foreign_tensor, before.cta, before.component, before.tick, false);
  }
  if (!is_async(access.record.operation))
    return knows(view, access.view_cta, before.cta, before.component, before.tick);
  // A reader's values are in its registers: only strict runs require its fence (row 2).
  const bool fenced = is_ordinary(before) && (before_write || strict_);
  const bool shared = region.space == Space::kShared;
  if (same_cta) {
    if (!fenced) return view.local.get(before.component) >= before.tick;
    return (shared ? view.async_shared : view.async_global)[before.component] >= before.tick;
  }
  if (!fenced && (shared || is_ordinary(before))) {
    return releases_.knows(view.foreign, before.cta, before.component, before.tick, false);
  }
  if (!shared) return releases_.knows(view.foreign_async_global, before.cta, before.component, before.tick, false);
  return releases_.knows(view.foreign, before.cta, before.component, before.tick, true);
}

void Checker::begin(const Access& access) {
  current_ = number_of(access.record);
  seen_record_ = kNoRecord;
}

void Checker::access(Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& access) {
  if (declared_ != nullptr && region.tag >= 0) check_declared(region, offset, bytes, access);
  if (region.read_only && !access.write) return;
  begin(access);
  std::uint64_t at = offset;
  const std::uint64_t end = offset + bytes;
  while (at < end) {
    const std::uint64_t cell = at / kCellBytes * kCellBytes;
    const std::uint64_t stop = std::min(end, cell + kCellBytes);
    const std::uint32_t mask = ((1u << (stop - at)) - 1) << (at - cell);
    check_cell(region, cell, static_cast<std::uint16_t>(mask), access, current_);
    at = stop;
  }
}

// Whether a read of these bytes found nothing written: the write that meets it now is the one it should have waited
// for.
bool Checker::unwritten_before(const Region& region, const Cell& cell, std::uint32_t bytes) {
  if (region.shadow.initialised()) return false;
  for (const ShadowEntry& entry : cell) {
    if (entry.write && (entry.bytes & bytes) != 0) return false;
  }
  return true;
}

void Checker::check_cell(Region& region, std::uint64_t offset, std::uint16_t mask, const Access& access,
                         std::uint32_t number) {
  Cell& cell = region.shadow.cell(offset);
  std::uint16_t written = 0;
  for (const ShadowEntry& entry : cell) {
    if (entry.write) written |= entry.bytes;
    if ((entry.bytes & mask) == 0) continue;
    if (entry.record == number || entry.record == kNoRecord || (!entry.write && !access.write)) continue;
    if (entry.record == seen_record_ && entry.write == seen_write_) continue;
    const Record& before = records_[entry.record];
    const bool both_atomic = before.operation == access.record.operation &&
                             (before.operation == Operation::kAtomic || before.operation == Operation::kBulkReduce);
    if (both_atomic || sees(region, access, before, entry.write)) {
      seen_record_ = entry.record;
      seen_write_ = entry.write;
    } else {
      const Meeting meeting = entry.write                                          ? Meeting::kAfterWrite
                              : unwritten_before(region, cell, entry.bytes & mask) ? Meeting::kReadTooSoon
                                                                                   : Meeting::kAfterRead;
      report(region, offset, access, before, meeting);
    }
  }
  if (!access.write) {
    if ((written & mask) != mask && !region.shadow.initialised()) report_unwritten(region, offset, access);
    cell.add_read(mask, number, records_);
    return;
  }
  if ((cell.barriers & mask) != 0) report_barrier_overwritten(region, offset, access);
  cell.add_write(mask, number);
}

void Checker::mark_barrier(Region& region, std::uint64_t offset, bool live) {
  Cell& cell = region.shadow.cell(offset);
  const std::uint16_t mask = static_cast<std::uint16_t>(0xffu << (offset % kCellBytes));
  cell.barriers = static_cast<std::uint16_t>(live ? cell.barriers | mask : cell.barriers & ~mask);
  if (live) cell.add_write(mask, kNoRecord);  // earlier writers are checked by the rules of mbarrier.init
}

void Checker::tick(Warp& warp) {
  const std::uint32_t own = component::kWarp + warp.index;
  warp.view.local.set(own, warp.view.local.get(own) + 1);
}

Foreign Checker::publish(Warp& warp) {
  Foreign released = releases_.publish(static_cast<std::uint16_t>(warp.cta->index), warp.index, warp.view);
  tick(warp);
  return released;
}

Foreign Checker::publish_completion(std::uint16_t cta, const View& view) {
  return releases_.publish(cta, component::kTcgen, view);
}

void Checker::acquire(Warp& warp, const Foreign& released) {
  if (released == nullptr || released == warp.view.foreign) return;
  const Foreign before = warp.view.foreign;
  warp.view.join_foreign(released);
  if (warp.view.foreign == before) return;
  releases_.join_into(warp.view.local, released, static_cast<std::uint16_t>(warp.cta->index));
}

void Checker::fence_async(Warp& warp, bool shared, bool global, bool one_lane) {
  View& view = warp.view;
  if (shared && !(one_lane && warp.wide_since_fence)) {
    // Every writer fences for itself (rows 3, 6).
    view.async_shared[warp.index] = view.local.get(component::kWarp + warp.index);
    warp.wide_since_fence = false;
  }
  if (global) {  // the reader's side fences what its acquire learnt (rows 9, 11)
    for (std::uint32_t w = 0; w < component::kMaxWarps; w++)
      view.async_global[w] = view.local.get(component::kWarp + w);
    view.foreign_async_global = view.foreign;
  }
  tick(warp);
}

void Checker::fence_tensor_after(Warp& warp) {
  warp.view.tensor = warp.view.local;
  warp.view.foreign_tensor = warp.view.foreign;
}

}  // namespace megakittens::emulator
