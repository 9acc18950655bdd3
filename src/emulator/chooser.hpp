// Chooses the next mover of a run, by strategy or from a record.
#pragma once

#include <memory>
#include <vector>

#include "emulator/agent.hpp"
#include "emulator/interleaving.hpp"
#include "emulator/random.hpp"
#include "emulator/warp.hpp"

namespace megakittens::emulator {

/// An asynchronous operation that has not finished.
struct InFlight {
  std::unique_ptr<Agent> agent;
  Mover mover;
  std::uint64_t priority = 0;
  std::uint64_t started = 0;
};

class Chooser {
 public:
  Chooser(const InterleavingOptions& options, std::uint64_t seed);

  struct Choice {
    bool operation;
    std::size_t index;
  };
  /// One of the two lists is not empty.
  Choice choose(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations);
  /// The running warp took a step that others may see. True: another moves first; only where one can (`others`).
  bool interrupts(Warp& running, bool others);
  void started(Warp& warp) { warp.priority = high(); }
  void started(InFlight& operation);
  /// What the warp waits for may have happened.
  void woken(Warp& warp);
  /// The warp gives way of its own accord.
  void paused(Warp& warp) { warp.late = pct_ || late_chance_ > 0; }
  Interleaving take_record() { return std::move(record_); }

 private:
  Choice choose_randomly(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations);
  Choice choose_highest(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations);
  bool choose_recorded(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations, Choice& choice);
  static Choice choose_oldest(const std::vector<Warp*>& ready, const std::vector<InFlight>& operations);
  std::uint64_t high() { return pct_ ? priorities_.next() | std::uint64_t{1} << 63 : 0; }

  const InterleavingOptions& options_;
  std::uint64_t seed_;
  bool pct_;  // and not a replay
  Random random_;
  // The temper of this run, drawn from the seed: schedules differ in kind, not only in order.
  std::uint32_t agent_chance_, switch_chance_, late_chance_ = 0;
  bool prefer_some_warps_;
  Random priorities_;  // apart from random_, as is the draw of late_chance_
  int operations_bias_ = 0;
  std::vector<std::uint64_t> change_points_;  // ascending step numbers
  std::size_t changes_ = 0;
  std::uint64_t highest_waiting_ = 0;  // of those who can move since the running warp was chosen
  std::uint64_t steps_ = 0;            // of the run
  std::uint64_t turns_ = 0;            // choices so far
  std::uint32_t burst_ = 0;            // steps of the running warp since it was chosen
  std::size_t replayed_ = 0;           // moves of the record that are behind us
  std::uint32_t burst_limit_ = 0;      // of the recorded move under way
  Interleaving record_;
  std::vector<std::uint32_t> prompt_;  // scratch: ready warps that are not late
};

}  // namespace megakittens::emulator
