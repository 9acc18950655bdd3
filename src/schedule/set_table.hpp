// Sets of instructions that are waited for together: each distinct set is one counter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace megakittens::schedule {

class SetTable {
 public:
  /// The number of the set of ascending `members`; numbers count from 0 at first sight.
  std::uint32_t intern(std::span<const std::uint32_t> members);
  std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::span<const std::uint32_t> members(std::uint32_t set) const {
    return {members_.data() + first_[set], first_[set + 1] - first_[set]};
  }

 private:
  void grow();

  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> first_{0};
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // set + 1, or 0 where free; a power of two of them
};

}  // namespace megakittens::schedule
