// Explores interleavings of a program: many schedules, each finding reported once, a failing schedule recorded and
// shrunk.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/workspace.hpp"

namespace megakittens::emulator {

/// By storage number: what the storage holds before a run, exactly program.storages[s].bytes; empty for those that are
/// not inputs.
using StorageContents = std::vector<std::vector<std::byte>>;

/// A program with memory of its own that every run starts from the same state.
class Rehearsal {
 public:
  /// Both must outlive it. Throws as Workspace does, UserError where an input's contents have another size.
  Rehearsal(const program::Program& program, const StorageContents& inputs);
  ~Rehearsal();

  Report run(const RunOptions& options);
  /// Of every output and mutated input after the last run.
  std::uint64_t results_hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct ExploreOptions {
  std::uint64_t schedules = 100;
  std::uint64_t first_seed = 1;  // schedule i has seed first_seed + i
  RunOptions run;                // with its strategy; `seed` and `record` are the explorer's own
  unsigned threads = 1;          // 0: as many as the machine has processors
  bool stop_at_first = false;    // after the first schedule with a finding
  /// Called after each schedule by one thread at a time: schedules done, kinds of findings so far.
  std::function<void(std::uint64_t, std::size_t)> progress;
};

/// Findings that differ in schedule, instruction numbers or place only are one.
struct Found {
  std::string name;             // the rule's, or "deadlock", "exception", "step limit", "results"
  int row;                      // of the hand-off table; 0 for none
  std::string text;             // explained for the program
  std::uint64_t seed;           // of the first schedule that showed it
  std::uint64_t schedules = 1;  // how many did
};

struct Exploration {
  std::uint64_t schedules = 0;
  std::uint64_t failing = 0;  // with at least one finding
  std::uint64_t steps = 0;
  std::uint64_t expected_steps = 0;            // that change points of the pct strategy were spread over
  std::optional<std::uint64_t> first_failure;  // number of the first failing schedule, from 1
  std::vector<Found> found;

  bool ok() const { return found.empty(); }
  bool has(std::string_view name) const;
  /// How many schedules it took to see one of `names`, in the order of seeds from `first_seed`; 0 where none did.
  std::uint64_t schedules_until(std::span<const std::string_view> names, std::uint64_t first_seed) const;
};

/// With arithmetic, runs whose results differ are a finding too ("results"). With the pct strategy the number of steps
/// is taken from a first run at random where `run.interleaving.expected_steps` is 0. Throws as Rehearsal does.
Exploration explore(const program::Program& program, const StorageContents& inputs, const ExploreOptions& options);

/// One run with options of one's own.
Exploration explore_once(const program::Program& program, Rehearsal& rehearsal, const RunOptions& run);

/// The moves of a run under `options`, which then replays exactly.
Interleaving record(Rehearsal& rehearsal, RunOptions options);

struct Shrunk {
  Interleaving moves;      // a subsequence that still shows `name`
  std::uint64_t runs = 0;  // that it took
};
/// Leaves out moves while a replay of the rest still shows a finding called `name` (a shortest prefix, then pieces of
/// halving size), for at most `most_runs` replays. Empty moves mean that the usual order shows it.
Shrunk shrink(Rehearsal& rehearsal, RunOptions options, Interleaving moves, const std::string& name,
              std::uint64_t most_runs);

}  // namespace megakittens::emulator
