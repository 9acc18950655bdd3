// A graph: what is computed, before anything is decided about how.
#pragma once

#include <cstdint>
#include <map>
#include <megakittens/tensor.hpp>
#include <memory>
#include <string>
#include <vector>

namespace megakittens {

class Program;
struct ScheduleOptions;

/// Immutable; copies share it.
class Graph {
 public:
  /// A .mkg.json file. Throws UserError naming the path where it cannot be read, FormatError where it is no graph.
  static Graph load(const std::string& path);
  static Graph from_json(const std::string& text);
  void save(const std::string& path) const;
  std::string to_json() const;
  /// A line for each value, node and output.
  std::string to_string() const;

  const std::string& name() const;
  std::vector<TensorInfo> inputs() const;
  std::vector<TensorInfo> outputs() const;
  std::size_t node_count() const;

  /// The symbols that sizes are made of, with their sample values; empty for a graph that can run. `inputs` and
  /// `outputs` have the shapes that the samples give.
  const std::map<std::string, std::int64_t>& symbols() const;
  /// The graph with a number of at least 1 for every symbol. Throws OptionError naming a symbol without a value or that
  /// the graph lacks, FormatError where the sizes do not fit.
  Graph bind(const std::map<std::string, std::int64_t>& values) const;

  /// Throws UserError where symbols are not bound, UnsupportedError where no instruction type takes a node, OptionError
  /// for an impossible configuration, CapacityError where a limit is reached.
  Program schedule(const ScheduleOptions& options) const;
  Program schedule() const;

  /// The reference: slow, on the CPU, rounding after each operation as PyTorch's eager does. `inputs` as Program::run.
  std::vector<HostTensor> evaluate(const std::vector<HostTensor>& inputs) const;

 private:
  friend class Builder;
  struct State;
  explicit Graph(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace megakittens
