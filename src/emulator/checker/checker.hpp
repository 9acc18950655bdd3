// The happens-before checker. The machine passes it every access and every hand-over; it reports findings.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/checker/record.hpp"
#include "emulator/checker/shadow.hpp"
#include "emulator/checker/view.hpp"
#include "emulator/launch.hpp"

namespace megakittens::emulator {

struct Warp;
using Cell = ShadowMemory::Cell;

/// An access in the making. `view` is what its issuer knew: now for ordinary accesses, at issue for asynchronous ones.
struct Access {
  const View* view;
  std::uint16_t view_cta;  // whose clock view->local is
  Record record;           // what later accesses find
  bool write;
  std::uint32_t own_seen = 0;  // tcgen05.ld and .st: how many of the warp's own earlier ones it waited for
};

/// How an access meets the earlier one it conflicts with.
enum class Meeting : std::uint8_t { kAfterWrite, kAfterRead, kReadTooSoon };

class Checker {
 public:
  /// `declared` may be null.
  Checker(Findings& findings, bool strict, Declared* declared);

  std::uint32_t context_of(const Context& context);
  const Context& context(std::uint32_t number) const { return contexts_[number]; }
  std::string describe(std::uint32_t context) const;

  /// Checks an access of [offset, offset + bytes) against the region's shadow and leaves it there.
  void access(Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& access);
  /// The same in two parts, for many aligned 16-byte pieces of one operation: begin once, then a call for each.
  void begin(const Access& access);
  void access_cell(Region& region, std::uint64_t offset, const Access& access) {
    check_cell(region, offset, 0xffff, access, current_);
  }
  Access ordinary(const Warp& warp, Operation operation, bool write) const;
  /// A live mbarrier takes or leaves eight bytes.
  void mark_barrier(Region& region, std::uint64_t offset, bool live);

  /// The warp hands over: everything it did before belongs to an earlier tick than what it does next.
  void tick(Warp& warp);
  /// A release to other CTAs: numbers the warp's knowledge and returns a reference to it that an acquire can join.
  Foreign publish(Warp& warp);
  /// As publish, for knowledge that only a completion channel has (a commit that arrives at another CTA).
  Foreign publish_completion(std::uint16_t cta, const View& view);
  void acquire(Warp& warp, const Foreign& released);
  /// `one_lane`: only the elected lane's accesses are fenced, not those of the whole warp before it.
  void fence_async(Warp& warp, bool shared, bool global, bool one_lane);
  void fence_tensor_after(Warp& warp);

  bool knows(const View& view, std::uint16_t view_cta, std::uint16_t cta, std::uint32_t component,
             std::uint32_t tick) const;

  Findings& findings() { return findings_; }
  bool strict() const { return strict_; }

 private:
  bool sees(const Region& region, const Access& access, const Record& before, bool before_write) const;
  void check_cell(Region& region, std::uint64_t offset, std::uint16_t mask, const Access& access, std::uint32_t number);
  // In findings.cpp.
  void report(const Region& region, std::uint64_t offset, const Access& access, const Record& before, Meeting meeting);
  void check_declared(const Region& region, std::uint64_t offset, std::uint64_t bytes, const Access& access);
  Party party(std::uint32_t context, bool write) const;
  void report_unwritten(const Region& region, std::uint64_t offset, const Access& access);
  void report_barrier_overwritten(const Region& region, std::uint64_t offset, const Access& access);
  Rule classify(const Region& region, const Access& access, const Record& before, Meeting meeting) const;
  static bool unwritten_before(const Region& region, const Cell& cell, std::uint32_t bytes);
  std::uint32_t number_of(const Record& record);

  Findings& findings_;
  bool strict_;
  Declared* declared_;
  std::vector<Context> contexts_;
  std::vector<Record> records_;
  static constexpr std::uint32_t kRecent = 4096;
  std::vector<std::uint32_t> recent_;  // by hash: the last record of an actor and operation, for reuse
  Releases releases_;
  // Neighbouring cells mostly carry the same records: the last one that was found in order for this access.
  std::uint32_t seen_record_ = 0;
  std::uint32_t current_ = 0;
  bool seen_write_ = false;
};

}  // namespace megakittens::emulator
