// Runs a graph's program on the emulator and compares every output with the reference.
#pragma once

#include <gmock/gmock.h>

#include "emulator/workspace.hpp"
#include "ir/graph.hpp"
#include "program/program.hpp"

namespace megakittens::test {

/// A program, random inputs in [-scale, scale] that its graph takes, and what the reference makes of them.
class ProgramCase {
 public:
  ProgramCase(const ir::Graph& graph, program::Program program, float scale);

  /// One launch on a fresh workspace. Fails the test where the checker finds something, or an output is further off
  /// than `tolerance` relative to the largest value.
  void expect_right(const emulator::RunOptions& options, float tolerance) const;
  /// One launch whose results nobody looks at.
  emulator::Report launch(const emulator::RunOptions& options) const;
  const program::Program& program() const { return program_; }

 private:
  struct Memory;

  program::Program program_;
  std::vector<std::vector<std::byte>> inputs_;  ///< storages
  std::vector<std::vector<float>> expected_;    ///< dense
};

}  // namespace megakittens::test
