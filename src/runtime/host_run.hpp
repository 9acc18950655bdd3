// A program on the emulated machine with tensors bound to it: what the command line, the C++ API and Python share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulator/workspace.hpp"
#include "program/program.hpp"
#include "runtime/host_buffer.hpp"

namespace megakittens::runtime {

struct HostRun {
  /// By storage number: the inputs as the run left them, fresh outputs, and empty buffers for workspaces.
  std::vector<HostBuffer> storages;
  emulator::Report report;
  double seconds = 0;
};

/// A program and its workspace; the runs on it follow each other. The program must outlive it. Not for several threads.
class HostProgram {
 public:
  /// Throws as emulator::Workspace does.
  explicit HostProgram(const program::Program& program);

  /// `inputs[i]` is the storage of the program's input i, exactly as long as program.storages says; the run takes them.
  /// Throws UserError where they do not fit. What the run finds is in the report; after a bad one, and where an
  /// exception ends it, the workspace is reset.
  HostRun run(std::vector<HostBuffer> inputs, const emulator::RunOptions& options = {});
  /// The same on the caller's memory: `inputs[i]` as above, `outputs[k]` for the k-th of output_storages().
  emulator::Report run(std::span<void* const> inputs, std::span<void* const> outputs,
                       const emulator::RunOptions& options = {});

 private:
  const program::Program& program_;
  emulator::Workspace workspace_;
};

/// Throws UserError where there is not one buffer for each input, exactly as long as its storage.
void expect_inputs(const program::Program& program, std::span<const HostBuffer> inputs);

/// Numbers of the storages that a call has to allocate, in order.
std::vector<std::uint32_t> output_storages(const program::Program& program);

/// One buffer an input: the values as the input's type.
std::vector<HostBuffer> to_buffers(const program::Program& program, const std::vector<std::vector<float>>& inputs);

/// Throws ExecutionError with the report's text where the run was not good.
void expect_good(const program::Program& program, const emulator::Report& report);

}  // namespace megakittens::runtime
