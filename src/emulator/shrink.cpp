// Recording a failing schedule, and making it small.
#include <algorithm>

#include "emulator/explorer.hpp"

namespace megakittens::emulator {
namespace {

/// Replays pieces of a record, counting.
class Replayer {
 public:
  Replayer(Rehearsal& rehearsal, const RunOptions& options, const std::string& name, std::uint64_t most_runs)
      : rehearsal_(rehearsal), options_(options), name_(name), most_runs_(most_runs) {}

  bool fails(const Interleaving& moves) {
    runs_++;
    RunOptions options = options_;
    options.interleaving.replay = &moves;
    const std::vector<std::string> names = rehearsal_.run(options).names();
    return std::ranges::find(names, name_) != names.end();
  }
  bool spent() const { return runs_ >= most_runs_; }
  std::uint64_t runs() const { return runs_; }

 private:
  Rehearsal& rehearsal_;
  RunOptions options_;
  const std::string& name_;
  std::uint64_t most_runs_;
  std::uint64_t runs_ = 0;
};

/// A prefix that fails and is as short as bisection finds it.
void shorten(Interleaving& moves, Replayer& replayer) {
  std::size_t passes = 0;  // no failing prefix of this length is known, or shorter
  while (passes < moves.size() && !replayer.spent()) {
    const std::size_t length = passes + (moves.size() - passes) / 2;
    const Interleaving prefix(moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(length));
    if (replayer.fails(prefix)) {
      moves = prefix;
    } else {
      passes = length + 1;
    }
  }
}

/// Delta debugging: leaves out pieces, smaller and smaller ones.
void thin_out(Interleaving& moves, Replayer& replayer) {
  for (std::size_t piece = std::max<std::size_t>(moves.size() / 2, 1); piece > 0 && !moves.empty(); piece /= 2) {
    for (std::size_t at = 0; at < moves.size() && !replayer.spent();) {
      const std::size_t end = std::min(at + piece, moves.size());
      Interleaving rest(moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(at));
      rest.insert(rest.end(), moves.begin() + static_cast<std::ptrdiff_t>(end), moves.end());
      if (replayer.fails(rest)) {
        moves = std::move(rest);
      } else {
        at = end;
      }
    }
  }
}

}  // namespace

Interleaving record(Rehearsal& rehearsal, RunOptions options) {
  options.interleaving.record = true;
  return rehearsal.run(options).interleaving;
}

Shrunk shrink(Rehearsal& rehearsal, RunOptions options, Interleaving moves, const std::string& name,
              std::uint64_t most_runs) {
  options.interleaving.record = false;
  Replayer replayer(rehearsal, options, name, most_runs);
  shorten(moves, replayer);
  thin_out(moves, replayer);
  return {std::move(moves), replayer.runs()};
}

}  // namespace megakittens::emulator
