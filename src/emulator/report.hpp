// What a run found.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "emulator/faults.hpp"
#include "emulator/interleaving.hpp"
#include "emulator/rules.hpp"

namespace megakittens::emulator {

/// One side of a finding: a warp's access, or that of an asynchronous operation it started.
struct Party {
  std::uint32_t cta = 0;
  std::uint32_t warp = 0;
  std::string role = {};
  std::int64_t instruction = -1;  // as annotated; -1: none
  bool write = false;
};

struct Finding {
  Rule rule;
  std::string text;                 // several lines: the rule, then each access with who and where
  std::vector<Party> parties = {};  // who accessed now, and whose earlier access it meets; empty where text is all
  int buffer = -1;                  // GlobalBuffer::tag of the memory, -1 elsewhere
  std::uint64_t offset = 0;         // bytes from that buffer's start
};

struct Report {
  std::vector<Finding> findings;  // the first of each kind, in order of discovery
  std::uint64_t suppressed = 0;   // findings beyond the limit, or like one that is listed
  std::string deadlock;           // empty: every warp finished
  bool step_limit_reached = false;
  std::string exception;                 // text of an exception that left the kernel
  std::uint64_t steps = 0;               // synchronising operations of all warps
  std::uint64_t switches = 0;            // fibre resumptions
  std::uint64_t async_operations = 0;    // copies, products, reductions
  std::uint64_t expired_waits = 0;       // times virtual time was advanced because nothing could move
  Interleaving interleaving;             // filled when InterleavingOptions::record is set
  std::vector<FaultPlace> fault_places;  // filled when LaunchConfig::survey is set

  bool ok() const { return findings.empty() && deadlock.empty() && !step_limit_reached && exception.empty(); }
  bool has(Rule rule) const;
  /// What every kind of fault is called: a rule's name, or "deadlock", "exception", "step limit".
  std::vector<std::string> names() const;
  /// Everything a person needs, or one line when the run was good.
  std::string text() const;
};

/// Collects findings, keeps one of each likeness.
class Findings {
 public:
  Findings(Report& report, std::size_t limit) : report_(report), limit_(limit) {}
  /// `likeness`: findings of one rule with the same number are reported once.
  void add(Rule rule, std::uint64_t likeness, const std::string& text) {
    if (wants(rule, likeness)) tell(rule, text);
  }
  /// In two halves, for callers whose text is costly to make: wants() counts the finding either way.
  bool wants(Rule rule, std::uint64_t likeness);
  void tell(Rule rule, const std::string& text, std::vector<Party> parties = {}, int buffer = -1,
            std::uint64_t offset = 0);
  /// From now on findings about the order of accesses are dropped: waits have expired, and what follows runs without
  /// them.
  void forgive_disorder() { disorder_ = true; }

 private:
  Report& report_;
  std::size_t limit_;
  bool disorder_ = false;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace megakittens::emulator
