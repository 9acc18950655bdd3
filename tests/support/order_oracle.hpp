// Orderings of small programs by brute force: every pair of accesses byte by byte, the closure of all waits.
#pragma once

#include "schedule/verify.hpp"

namespace megakittens::test {

class OrderOracle {
 public:
  /// Finds all conflicting pairs. Needs a program of at most a few hundred instructions.
  OrderOracle(const program::Program& program, const schedule::VerifyOptions& options);

  /// How many conflicting pairs `program` leaves unordered; it may differ from the first one in waits and arrivals
  /// only. Needs waits that point to lower numbers.
  std::size_t unordered(const program::Program& program) const;
  std::size_t conflicts() const { return conflicts_.size(); }

 private:
  struct Conflict {
    std::uint32_t first;
    std::uint32_t second;
    std::uint32_t guard;  // of the second's access
  };
  std::vector<Conflict> conflicts_;
  std::vector<std::uint32_t> touched_;  // guard bits that mean something, by instruction
};

}  // namespace megakittens::test
