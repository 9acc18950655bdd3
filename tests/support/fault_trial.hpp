// One planted fault: is it noticed, by which rule, and after how many schedules?
#pragma once

#include "emulator/named_faults.hpp"

namespace megakittens::test {

struct FaultTrial {
  bool planted = false;           // the program has a place for it
  bool verifier_noticed = false;  // or has nothing to notice
  std::string verifier;           // the verifier's rules, comma between
  bool checker_noticed = false;   // or makes no run
  std::string rule;               // the finding that showed it
  std::uint64_t schedules = 0;    // that it took
  std::string strategy;
  std::string seen;  // everything that runs found, for a failing test

  bool ok() const { return planted && verifier_noticed && checker_noticed; }
};

/// Shadow-only schedules at random, then with the pct strategy, at most `most` of each.
FaultTrial try_fault(const emulator::NamedFault& fault, std::uint64_t most);

}  // namespace megakittens::test
