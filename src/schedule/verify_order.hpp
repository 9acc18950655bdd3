// The order that counters and queues give a program's instructions: the verifier's.
#pragma once

#include <span>

#include "program/program.hpp"
#include "schedule/verify.hpp"

namespace megakittens::schedule {

class Order {
 public:
  /// `touched[i]` holds the guard bits of what instruction i touches: waits for anything else hold nothing back.
  Order(const program::Program& program, std::span<const std::uint8_t> touched);

  enum class Relation : std::uint8_t {
    none,
    indirect,  ///< through other instructions that wait
    direct,    ///< the access waits for a counter that the first raises itself, or raises through noops
  };
  /// Does every access of `second` that `guard` holds back come after all of `first`? Needs first != second.
  Relation relation(std::uint32_t first, std::uint32_t second, std::uint32_t guard);

  /// Reports wrong counts and cycles. True where `sequence` holds every instruction.
  bool check(const std::function<void(Finding)>& report);
  /// The instructions in an order that agrees with all waits; valid after check().
  const std::vector<std::uint32_t>& sequence() const { return sequence_; }

 private:
  bool counts(const program::Instruction& instruction, int wait) const;
  void collect_before();
  void check_counts(const std::function<void(Finding)>& report) const;
  bool points_down() const;
  void sort_by_waits();
  void find_sources(std::uint32_t second, std::uint32_t guard);
  bool reaches(std::uint32_t first);

  const program::Program& program_;
  std::span<const std::uint8_t> touched_;
  std::vector<std::uint32_t> sequence_;
  bool down_ = false;                        // every wait points to lower numbers
  std::vector<std::uint32_t> last_arriver_;  // by counter: highest instruction that raises it
  std::vector<std::uint32_t> arriver_first_, arrivers_;
  // Counters that were complete before a counter is: of all its arrivers, and of the noops among them.
  std::vector<std::uint32_t> before_first_, before_;
  std::vector<std::uint32_t> noop_before_first_, noop_before_;

  // The query that was answered last, for the next one about the same access.
  std::uint32_t second_ = ~0u, guard_ = 0;
  std::vector<std::uint32_t> sources_;  // counters that the access waits for, through noops too
  std::vector<std::uint32_t> stamp_;
  std::uint32_t epoch_ = 0;
};

}  // namespace megakittens::schedule
