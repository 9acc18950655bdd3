// What `run` has to say about a run.
#pragma once

#include <string>
#include <vector>

#include "emulator/report.hpp"
#include "ir/graph.hpp"
#include "program/program.hpp"
#include "runtime/compare.hpp"
#include "runtime/host_buffer.hpp"
#include "support/json.hpp"

namespace megakittens::cli {

/// A tensor against the reference in eager's numerics, and in fp32 throughout with the largest error of eager's
/// numerics as slack. The first decides; where the program may keep fp32 between operations, either may be right.
struct TensorVerdict {
  std::string what;  ///< "output 0 'relu_2'", "input 'cache' after the run"
  runtime::Comparison eager;
  runtime::Comparison exact;
  bool may_keep_fp32 = false;

  bool ok() const { return eager.ok() || (may_keep_fp32 && exact.ok()); }
};

struct Verdict {
  std::vector<std::string> orderings;  ///< the verifier's findings about a program from a file
  emulator::Report report;             ///< of the emulator; empty and good where a GPU ran it
  std::string gpu;                     ///< "GPU 0 'NVIDIA H200'"; empty where the emulator ran it
  double launch_microseconds = 0;      ///< on the GPU
  unsigned launches = 0;               ///< behind each other, of which that is the mean
  bool compared = false;
  std::vector<TensorVerdict> comparisons;
  double prepare_seconds = 0;
  double run_seconds = 0;
  double reference_seconds = 0;

  bool ok() const;
};

/// Throws OptionError where the program's inputs and outputs are not the graph's.
void expect_same_tensors(const ir::Graph& graph, const program::Program& program);

/// Every output, and every input that the program writes. `inputs` are what the run was given.
std::vector<TensorVerdict> compare_with_reference(const ir::Graph& graph, const program::Program& program,
                                                  std::vector<std::vector<float>> inputs,
                                                  const std::vector<runtime::HostBuffer>& storages, bool may_keep_fp32);

std::string to_text(const Verdict& verdict, const program::Program& program, std::uint64_t schedule_seed,
                    std::uint64_t input_seed);
Json to_json(const Verdict& verdict, const program::Program& program, std::uint64_t schedule_seed,
             std::uint64_t input_seed);

}  // namespace megakittens::cli
