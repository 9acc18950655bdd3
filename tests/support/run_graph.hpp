// A graph through passes, scheduler, verifier and interpreter on the emulator, beside the reference.
#pragma once

#include <functional>

#include "emulator/workspace.hpp"
#include "ir/reference.hpp"
#include "passes/pipeline.hpp"
#include "schedule/schedule.hpp"

namespace megakittens::test {

struct RunSetup {
  passes::Options passes;
  schedule::ScheduleOptions schedule;
  emulator::RunOptions run;
  std::uint64_t input_seed = 1;
  /// Elements by which each input's base lies past a multiple of 128 bytes.
  int misaligned = 0;
  /// Floating inputs lie in [low, high].
  float low = -1;
  float high = 1;
  /// One in eight of them is a NaN, an infinity, a zero of either sign, or near an end of the type's range.
  bool specials = false;
  /// They are whole numbers of -3 to 4.
  bool integers = false;
};

/// Four SMs, clusters of one.
RunSetup small_machine();

/// One vector a graph input, as ir::evaluate takes them, by seed and as `setup` says.
std::vector<std::vector<float>> inputs_for(const ir::Graph& graph, const RunSetup& setup, std::uint64_t seed);

/// What one launch gave: values as floats, the reference's and the interpreter's.
struct RunResult {
  emulator::Report report;
  std::vector<std::vector<float>> outputs;
  std::vector<std::vector<float>> inputs;  ///< after the launch
  ir::ReferenceResult expected;
};

/// A scheduled, verified graph with memory of its own and a workspace that its launches share.
class GraphRun {
 public:
  /// Throws InternalError with the findings where schedule::verify has any.
  GraphRun(const ir::Graph& graph, RunSetup setup);
  ~GraphRun();
  GraphRun(const GraphRun&) = delete;
  GraphRun& operator=(const GraphRun&) = delete;

  /// The graph after the passes.
  const ir::Graph& graph() const;
  const program::Program& program() const;
  /// For tests that spoil it between launches; sizes stay as they are.
  program::Program& spoil();
  emulator::Workspace& workspace();
  /// New inputs by seed, poisoned outputs, one launch, and the reference of the original graph.
  RunResult launch(std::uint64_t input_seed, const emulator::RunOptions& options);
  RunResult launch();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How far a value may lie from the reference: `relative` of the larger magnitude, or `absolute`.
struct Tolerance {
  float absolute = 0;
  float relative = 0;
};
/// Room for `units` roundings to `dtype`.
Tolerance units_of(ir::DType dtype, float units = 1);
/// For a product of depth K with inputs in [-1, 1].
Tolerance product_tolerance(ir::DType dtype, std::int64_t depth);

/// Empty where the run was silent and every output and input agrees with the reference; else what differs first.
std::string problem_of(const RunResult& result, const Tolerance& tolerance);
/// The first difference of two lists of values, bit for bit but for the sign of zero and NaN's payload.
std::string difference(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& want,
                       const Tolerance& tolerance = {});

/// One launch compared with the reference.
std::string run_and_compare(const ir::Graph& graph, const RunSetup& setup, const Tolerance& tolerance = {});

}  // namespace megakittens::test
