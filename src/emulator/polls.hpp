// Waiting without spinning. A warp that polls the same thing again without success, and did nothing else between, is in
// a polling loop: it parks until one of the polled things changes. A late or needless wake-up is harmless, because the
// loop polls again.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace megakittens::emulator {

struct Warp;
struct Mbarrier;

struct Waiter {
  Warp* warp;
  std::uint64_t parking;

  /// Whether the warp is still parked for this: lists keep entries of warps that something else has woken.
  bool waits() const;
};

/// One thing looked at: a line of global memory, or an mbarrier.
struct Look {
  Mbarrier* barrier;      // null: a line
  std::uint64_t address;  // of the first byte looked at in the line: neighbours in one line are other things
  std::uint64_t line;     // address / kLineBytes
  std::uint64_t version;  // writes to the line, or phases of the mbarrier, when looked at
  bool content;           // the mbarrier had the wanted phase: the warp does not wait for it
};

inline constexpr std::uint64_t kLineBytes = 128;

/// Lines of global memory that a warp has polled.
class WatchedLines {
 public:
  struct Line {
    std::uint64_t writes = 0;
    std::vector<Waiter> waiters;
  };
  Line& watch(std::uint64_t line) { return lines_[line]; }
  /// The line if a warp has polled it, else null.
  Line* find(std::uint64_t line) {
    auto found = lines_.find(line);
    return found == lines_.end() ? nullptr : &found->second;
  }
  bool empty() const { return lines_.empty(); }

 private:
  std::unordered_map<std::uint64_t, Line> lines_;
};

}  // namespace megakittens::emulator
