// Who moves next: the strategies that choose, and the record of what they chose.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace megakittens::emulator {

/// Something that can move, by a name that means the same in every run of one kernel.
struct Mover {
  std::uint16_t cta = 0;
  std::uint16_t warp = 0;
  std::uint32_t operation = 0;  // 0: the warp; n: the n-th asynchronous operation that it started
  auto operator<=>(const Mover&) const = default;
};

/// `mover` moved until it could not, or until it was interrupted at its `steps`-th step (0: not interrupted). An
/// asynchronous operation moves one step at a time.
struct Move {
  Mover mover;
  std::uint32_t steps = 0;
  bool operator==(const Move&) const = default;
};
/// One run, move by move.
using Interleaving = std::vector<Move>;

enum class Strategy : std::uint8_t {
  random,  // anyone next, in a temper that the seed draws: eager or lazy operations, long or short bursts, warps that
           // lag, warps that see what they wait for only when nobody else can move
  pct,     // probabilistic concurrency testing: strict priorities by seed, lowered at a few random steps
};
const char* name_of(Strategy strategy);

struct InterleavingOptions {
  Strategy strategy = Strategy::random;
  std::uint32_t change_points = 3;       // pct: how often the running warp is put last
  std::uint64_t expected_steps = 10000;  // pct: change points lie among so many; Report::steps of an earlier run
  bool record = false;                   // keep the moves in Report::interleaving
  /// Replays these moves first, skipping movers that cannot move at their turn; then the mover that waited longest
  /// moves. Null: by strategy. Must outlive the run.
  const Interleaving* replay = nullptr;
};

}  // namespace megakittens::emulator
