// Evaluates a graph on the CPU, slowly enough to be plain: the oracle of tests and of `megakittens run`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/graph.hpp"

namespace megakittens::ir {

/// eager: every node's result is rounded to its tensor's type, and `round` steps round, as PyTorch's eager does.
/// exact: floating values keep fp32 throughout, outputs too; integers and booleans still convert.
enum class ReferenceNumerics : std::uint8_t { eager, exact };

/// All values are floats whatever the tensor's type: integers are right up to 2^24, bool is 0 or 1.
struct ReferenceResult {
  /// What each graph output shows, dense in row-major order.
  std::vector<std::vector<float>> outputs;
  /// Each input's storage after the run (changed where the graph writes it in place).
  std::vector<std::vector<float>> inputs;
};

/// `inputs[i]` is the storage of graph input i: tensor.span() floats, already rounded to the input's type.
/// Products accumulate in fp32 over blocks of 256 and in fp64 across them.
/// Throws UserError where the inputs do not match the graph, UnsupportedError for a call without a
/// reference.
ReferenceResult evaluate(const Graph& graph, std::vector<std::vector<float>> inputs,
                         ReferenceNumerics numerics = ReferenceNumerics::eager);

/// What a call gives before its body: its outputs, dense in row-major order, from its own operands so.
using CallReference = std::function<std::vector<std::vector<float>>(const Graph& graph, const Node& node,
                                                                    const std::vector<std::vector<float>>& operands)>;
/// From now on the reference of calls with that target; an empty one takes it away. Safe from several threads.
void set_call_reference(const std::string& target, CallReference reference);

/// Elements of `storage` that the view shows, in row-major order.
std::vector<float> gather(const std::vector<float>& storage, const View& view);
/// The inverse: writes `values`, in row-major order, through the view.
void scatter(std::vector<float>& storage, const View& view, const std::vector<float>& values);

/// What a reduce, gather, scatter or scan node gives before its body: each output, dense in row-major order, from its
/// operands so. Sums are in fp64. Throws UserError naming node, index and size where an index is out of range.
std::vector<std::vector<float>> evaluate_family(const Graph& graph, const Node& node,
                                                const std::vector<std::vector<float>>& operands);

/// C[m, n] = A[m, k] B[k, n], all dense row-major.
void reference_product(const float* a, const float* b, float* c, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace megakittens::ir
