// Runs programs on the emulated machine, with what a device keeps between launches: counters, tickets and workspace.
#pragma once

#include <memory>
#include <span>

#include "emulator/launch.hpp"
#include "program/launch.hpp"
#include "program/program.hpp"

namespace megakittens::emulator {

struct RunOptions {
  std::uint64_t seed = 1;
  bool check = true;
  bool strict = false;
  bool arithmetic = true;
  bool expire_waits = false;
  /// Clocks that a wait for a counter may take. The default is just under one jump of emulated time, so that such waits
  /// expire a jump before all others, which take twice as long.
  std::uint64_t wait_limit = (1ull << 41) - 1;
  std::vector<PlantedFault> faults = {};
  InterleavingOptions interleaving = {};
  bool spin = false;             // see LaunchConfig
  std::uint64_t step_limit = 0;  // 0: none
  bool survey = false;           // see LaunchConfig
  std::function<void()> poll = {};
};

/// One program and its workspace; launches on it follow each other. The program must outlive it.
class Workspace {
 public:
  /// Throws CapacityError where the program needs more than the emulated machine has, FormatError for a program whose
  /// numbers are out of bounds.
  explicit Workspace(const program::Program& program);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// Bytes of counters, control words and storages between nodes.
  std::uint64_t bytes() const;

  /// `storages[s]` is the base of the program's storage s where that is an input or an output, and ignored elsewhere.
  /// Inputs that bulk copies read and that are not aligned to 16 bytes are copied first, and back if they are mutated.
  /// After a failed run, or one that an exception ended, call reset() before the next.
  Report launch(std::span<void* const> storages, const RunOptions& options = {});

  /// What an expired wait left behind; `claimed` is 0 where none did.
  const program::AbortRecord& abort_record() const;
  /// What launches share. For tests that make it what another launch would have left.
  program::Control& control();
  /// For tests: what so many good launches would have left.
  void begin_at(std::uint32_t launches);
  /// Makes the workspace fit for the next launch after one that was given up.
  void reset();
  /// Fills the storages between nodes with bytes that are NaN in every floating type.
  void poison();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The finding's text, then for each party that worked on an instruction a line that names its node, source line, and
/// the tensor box through which it touched the memory.
std::string explain(const Finding& finding, const program::Program& program);
/// The text, then a line for each instruction that it names by number.
std::string explain(const std::string& text, const program::Program& program);

/// "storer of SM 3, instruction 80 (node 'mm_1'): counter 40 is 15, waits for 16" for a record.
std::string describe(const program::AbortRecord& record, const program::Program& program);

}  // namespace megakittens::emulator
