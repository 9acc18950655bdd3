// How the checker's findings are sorted under rules and put into words.
#include <fmt/format.h>

#include "emulator/checker/checker.hpp"

namespace megakittens::emulator {
namespace {

bool is_ordinary(Operation operation) {
  return operation < Operation::kBulkLoad;
}

Rule classify_shared(Operation now, Operation before, bool ordered, bool same_cta, bool before_write) {
  switch (before) {
    case Operation::kBulkLoad:
      if (!before_write) break;
      return Rule::kUnwaitedLoad;
    case Operation::kWgmma:
      return Rule::kReleasedUnderWgmma;
    case Operation::kTcgenMma:
    case Operation::kTcgenCopy:
      return Rule::kReleasedUnderTcgen;
    case Operation::kBulkStore:
    case Operation::kBulkReduce:
      return Rule::kReleasedUnderStore;
    default:
      break;
  }
  if (!same_cta && !ordered) return now == Operation::kBulkLoad ? Rule::kMulticastToken : Rule::kClusterScope;
  if (is_ordinary(now)) return Rule::kOrdinaryRace;
  if (!before_write) return ordered ? Rule::kReaderFence : Rule::kPageOverwritten;
  return now == Operation::kBulkLoad ? Rule::kWriterFence : Rule::kProxyFenceShared;
}

// `read_known`: of a bulk store, its issuer's wait_group.read is known, though not its wait_group.
Rule classify_global(Operation now, Operation before, bool ordered, bool same_cta, bool before_write, bool read_known) {
  if (now == Operation::kConstantLoad || before == Operation::kConstantLoad) return Rule::kConstantWritten;
  if (before == Operation::kBulkReduce || now == Operation::kBulkReduce) {
    if (!ordered) return Rule::kReductionMixed;
  }
  if (!before_write) return Rule::kReusedUnderReader;
  if (!is_ordinary(before) && ordered) return Rule::kProxyFenceGlobalAsync;
  if (!is_ordinary(before)) return read_known || same_cta ? Rule::kStoreNotComplete : Rule::kNotReleased;
  if (ordered) return Rule::kProxyFenceGlobal;
  return same_cta && is_ordinary(now) ? Rule::kOrdinaryRace : Rule::kNotReleased;
}

}  // namespace

const char* name_of(Operation operation) {
  constexpr const char* kNames[] = {"ordinary load", "ordinary store", "atomic access",  "ld.global.nc",
                                    "bulk load",     "bulk store",     "bulk reduction", "wgmma",
                                    "tcgen05.mma",   "tcgen05.cp",     "tcgen05.ld",     "tcgen05.st"};
  return kNames[static_cast<int>(operation)];
}

std::string Region::place(std::uint64_t offset) const {
  const std::string owner = space == Space::kGlobal ? fmt::format("global memory '{}'", name) : name;
  auto next = names.upper_bound(offset);
  if (next == names.begin()) return fmt::format("{} + {:#x}", owner, offset);
  --next;
  return fmt::format("'{}' + {:#x} ({} + {:#x})", next->second, offset - next->first, owner, offset);
}

std::string Checker::describe(std::uint32_t number) const {
  const Context& context = contexts_[number];
  std::string out = fmt::format("CTA {} warp {}", context.cta, context.warp);
  if (context.role != nullptr) out += fmt::format(" ({}", context.role);
  if (context.role != nullptr && context.instruction >= 0) out += fmt::format(", instruction {}", context.instruction);
  if (context.role != nullptr) out += ')';
  return out;
}

Rule Checker::classify(const Region& region, const Access& access, const Record& before, Meeting meeting) const {
  // An early read is reported as if it followed the write: the same synchronisation is missing.
  const bool swapped = meeting == Meeting::kReadTooSoon;
  const Operation now = swapped ? before.operation : access.record.operation;
  const Operation then = swapped ? access.record.operation : before.operation;
  const bool before_write = meeting != Meeting::kAfterRead;
  const bool ordered = knows(*access.view, access.view_cta, before.cta, before.component, before.tick);
  const bool same_cta = before.cta == access.view_cta;
  if (region.space == Space::kShared) return classify_shared(now, then, ordered, same_cta, before_write);
  if (region.space == Space::kGlobal) {
    const bool full = !swapped && before.component >= component::kBulkFull &&
                      before.component < component::kBulkFull + component::kMaxWarps;
    const bool read_known = full && knows(*access.view, access.view_cta, before.cta,
                                          before.component - component::kBulkFull + component::kBulkRead, before.tick);
    return classify_global(now, then, ordered, same_cta, before_write, read_known);
  }
  const bool after_product = then == Operation::kTcgenMma || then == Operation::kTcgenCopy;
  const bool reads = swapped || !access.write;
  return after_product && before_write && reads ? Rule::kTensorNotCommitted : Rule::kTensorReused;
}

void Checker::report(const Region& region, std::uint64_t offset, const Access& access, const Record& before,
                     Meeting meeting) {
  const Rule rule = classify(region, access, before, meeting);
  const Context& now = contexts_[access.record.context];
  const Context& then = contexts_[before.context];
  // Alike: same operations of same roles on the same memory, wherever in it.
  const std::uint64_t likeness =
      (reinterpret_cast<std::uintptr_t>(now.role) * 31 + reinterpret_cast<std::uintptr_t>(then.role)) * 31 +
      static_cast<std::uint64_t>(access.record.operation) * 17 + static_cast<std::uint64_t>(before.operation) +
      (region.space == Space::kGlobal ? reinterpret_cast<std::uintptr_t>(&region) : 0);
  if (!findings_.wants(rule, likeness)) return;
  const bool ordered = knows(*access.view, access.view_cta, before.cta, before.component, before.tick);
  findings_.tell(
      rule,
      fmt::format(
          "  {} of {} {} {}\n  {} of {} {} it before; {}", name_of(access.record.operation),
          describe(access.record.context), access.write ? "writes" : "reads", region.place(offset),
          name_of(before.operation), describe(before.context), meeting == Meeting::kAfterWrite ? "wrote" : "read",
          ordered ? "the two are ordered, but not for the proxy (a fence is missing)" : "nothing orders the two"),
      {party(access.record.context, access.write), party(before.context, meeting == Meeting::kAfterWrite)}, region.tag,
      offset - region.first);
}

Party Checker::party(std::uint32_t number, bool write) const {
  const Context& context = contexts_[number];
  return {context.cta, context.warp, context.role == nullptr ? "" : context.role, context.instruction, write};
}

void Checker::check_declared(const Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& access) {
  const Context& context = contexts_[access.record.context];
  if (context.instruction < 0 ||
      declared_->covers(region.tag, context.instruction, access.write, offset - region.first, bytes))
    return;
  const std::uint64_t likeness =
      reinterpret_cast<std::uintptr_t>(context.role) * 31 + static_cast<std::uint64_t>(region.tag);
  if (!findings_.wants(Rule::kUndeclared, likeness)) return;
  findings_.tell(
      Rule::kUndeclared,
      fmt::format("  {} of {} {} {} bytes at {}", name_of(access.record.operation), describe(access.record.context),
                  access.write ? "writes" : "reads", bytes, region.place(offset)),
      {party(access.record.context, access.write)}, region.tag, offset - region.first);
}

void Checker::report_unwritten(const Region& region, std::uint64_t offset, const Access& access) {
  const std::uint64_t likeness = reinterpret_cast<std::uintptr_t>(contexts_[access.record.context].role) * 31 +
                                 reinterpret_cast<std::uintptr_t>(&region);
  if (!findings_.wants(Rule::kUnwritten, likeness)) return;
  findings_.tell(Rule::kUnwritten,
                 fmt::format("  {} of {} reads {}", name_of(access.record.operation), describe(access.record.context),
                             region.place(offset)),
                 {party(access.record.context, false)}, region.tag, offset - region.first);
}

void Checker::report_barrier_overwritten(const Region& region, std::uint64_t offset, const Access& access) {
  if (!findings_.wants(Rule::kBarrierOverwritten, offset)) return;
  findings_.tell(Rule::kBarrierOverwritten, fmt::format("  {} of {} writes {}", name_of(access.record.operation),
                                                        describe(access.record.context), region.place(offset)));
}

}  // namespace megakittens::emulator
