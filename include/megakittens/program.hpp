// A program: a graph as one instruction stream, ready for a machine.
#pragma once

#include <map>

#include <megakittens/graph.hpp>

namespace megakittens {

/// The machines that programs are made for: "sm_90a" (Hopper), "sm_100a" (Blackwell), ...
std::vector<std::string> targets();

enum class Queue : std::uint8_t { per_sm, global };

struct ScheduleOptions {
  /// One of targets().
  std::string target = "sm_90a";
  /// 0: the target's usual number, 132 for sm_90a.
  std::uint32_t sms = 0;
  std::uint32_t cluster = 2;
  Queue queue = Queue::per_sm;
  /// Tile shapes as the scheduler sees fit, or fixed ones (128 x 256 products, 64 x 64 tiles elsewhere).
  bool fixed_tiling = false;
  /// Graph passes by the name of their switch ({"fusion", false}: one node an operation); all are on unless named.
  std::map<std::string, bool> passes = {};
  /// false: each operation's result is rounded to its type, as PyTorch's eager does; true: chains keep fp32 between.
  bool fused_numerics = false;
};

/// Target, multiprocessors and cluster of a GPU of this machine. Throws UserError where it is missing, or of no
/// architecture that programs are made for.
ScheduleOptions options_for_gpu(int gpu = 0);

enum class Device : std::uint8_t { emulator, cuda };

struct RunOptions {
  Device device = Device::emulator;
  /// With Device::cuda: which GPU, and how many launches behind each other RunResult::seconds is the mean of; 0 takes
  /// no time. What follows is for the emulator.
  int gpu = 0;
  unsigned timed_launches = 0;
  /// The order in which concurrent things happen; results do not depend on it.
  std::uint64_t schedule_seed = 1;
  /// Watch every access for a missing ordering. Several times slower.
  bool check = true;
};

struct RunResult {
  std::vector<HostTensor> outputs;
  /// The inputs after the run; different from what was given only where the graph writes in place.
  std::vector<HostTensor> inputs;
  /// On the emulator of the run, on a GPU of one launch.
  double seconds = 0;
};

/// Immutable; copies share it.
class Program {
 public:
  /// Throws UserError naming the path where it cannot be read, FormatError where it is no program or a damaged one.
  static Program load(const std::string& path);
  void save(const std::string& path) const;
  /// A line a thing; for people and for comparison.
  std::string to_text() const;
  /// One instruction, field by field. Throws OptionError where there is no such instruction.
  std::string describe_instruction(std::size_t number) const;

  const std::string& name() const;
  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::size_t instruction_count() const;
  std::size_t counter_count() const;
  std::uint32_t waves() const;

  /// On the emulated machine or a GPU. `inputs` in the order of inputs(), with their dtypes and shapes. Throws
  /// UserError where they differ or the program is not for that GPU, ExecutionError with everything that was found
  /// where the run went wrong.
  RunResult run(const std::vector<HostTensor>& inputs, const RunOptions& options = {}) const;

 private:
  friend class Graph;
  struct State;
  explicit Program(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace megakittens
