// A program on the GPU beside the reference.
#pragma once

#include <optional>

#include "ir/graph.hpp"
#include "ir/reference.hpp"
#include "passes/pipeline.hpp"
#include "program/program.hpp"
#include "runtime/cuda_program.hpp"
#include "runtime/cuda_stream.hpp"
#include "runtime/host_buffer.hpp"
#include "schedule/schedule.hpp"

namespace megakittens::test {

/// Empty where a GPU of compute capability 9.0 is there and current; else why not.
std::string gpu_problem();

/// Makes an instruction's wait one that cannot end; returns the instruction's number.
std::size_t spoil_a_wait(program::Program& program);

/// A graph scheduled for the GPU, its tensors in device memory, and a stream of its own.
class DeviceRun {
 public:
  DeviceRun(const ir::Graph& graph, const schedule::ScheduleOptions& options, const passes::Options& passes = {},
            std::uint64_t input_seed = 1);
  DeviceRun(const DeviceRun&) = delete;
  DeviceRun& operator=(const DeviceRun&) = delete;

  /// Fills outputs with NaN patterns, launches, and waits. Throws ExecutionError where a wait expired.
  void run();
  void launch() { launch(stream.get()); }
  void launch(runtime::CuStream on);
  void synchronize();
  /// Uploads `program` as it is now.
  void rebind();
  /// Every input to memory of its own elsewhere; and 0xff bytes (NaN), or others, into every output.
  void move_inputs();
  void clear_outputs(unsigned char with = 0xff);
  /// Whether every byte of every output is 0xff.
  bool outputs_are_clear() const;
  /// Uploads the inputs again (a program may have changed them).
  void restore_inputs();
  /// Whole numbers of -3 to 3 from now on: sums of a few thousand products of them are exact in any order.
  void take_integers();
  /// These from now on: as ir::evaluate takes them.
  void take(std::vector<std::vector<float>> inputs);
  const std::vector<std::vector<float>>& inputs() const { return inputs_; }
  /// Empty where every output and input agrees with the reference, and none of them is farther from fp32 throughout
  /// than eager may be (accuracy.hpp); else what differs first.
  std::string problem();
  /// What outputs and inputs hold, in the shape of a ReferenceResult; and what the reference's eager numerics give.
  ir::ReferenceResult results() const;
  const ir::ReferenceResult& eager() { return expected().eager; }
  /// Runs the program on the emulator, too. Empty where every output and input agrees bit for bit.
  std::string difference_from_emulator() const;

  program::Program program;
  std::unique_ptr<runtime::CudaProgram> loaded;
  runtime::Stream stream;

 private:
  struct Expected {
    ir::ReferenceResult eager;
    ir::ReferenceResult exact;
  };
  const Expected& expected();
  runtime::HostBuffer download(std::uint32_t storage) const;

  ir::Graph graph_;
  std::vector<std::vector<float>> inputs_;
  std::optional<Expected> expected_;  // from these inputs
  std::vector<runtime::DeviceMemory> memory_;
  std::vector<runtime::CuPointer> addresses_;
};

}  // namespace megakittens::test
