// What resolvers share. First, building the body of one pointwise call.
#pragma once

#include <array>

#include "frontend/context.hpp"

namespace megakittens::frontend {

/// Collects operands and steps, then emits one pointwise node, a copy where it only moves elements, or, without any
/// tensor, a constant.
class Chain {
 public:
  explicit Chain(const Call& call) : call_(call) {}

  /// A tensor, or a number of the call.
  ir::Ref read(std::size_t position, const char* name);
  ir::Ref read(const fx::Argument& argument);
  ir::Ref read(const Symbol& symbol);
  ir::Ref step(ir::PointwiseOp op, std::vector<ir::Ref> args);
  /// Emits the node with the dtype and shape that PyTorch computed. Throws NotResolved for arithmetic whose result is
  /// an integer: values are fp32 here.
  Results finish(ir::Ref result);
  /// The same for results that only move values: copies, casts, where.
  Results finish_any(ir::Ref result);

 private:
  const Call& call_;
  std::vector<Symbol> operands_;
  std::vector<ir::Step> steps_;
};

/// The order of dimensions, outermost first, in which PyTorch has laid out a dense tensor; row-major where its layout
/// is not dense.
std::vector<std::int64_t> memory_order(const fx::TensorMeta& meta);

// Types that PyTorch converts operands to before it computes.

/// Whether a number in a call is rounded to the type that is computed in, as comparisons do, or used as it is:
/// arithmetic computes in fp32, as PyTorch's GPU kernels do, whose fp32 a number is.
enum class Numbers : std::uint8_t { exact, rounded };

/// The arguments "self" and `second` as they are computed with: where the common type has 16 bits (torch.result_type:
/// that of the tensors with dimensions, unless the other side is of a higher kind), the other types' tensors are cast
/// to it. Beside bf16, 0.1 is compared as 0.10009765625, and the integer 257 is multiplied as 256. Throws NotResolved
/// for arguments that are neither a tensor nor a number.
std::array<Symbol, 2> promoted(const Call& call, Numbers numbers, const char* second = "other");

// Turning functional updates back into writes in place: who still reads a storage decides.

/// Calls after position `after` that read the storage which node `owner` owns, through whatever views.
std::vector<int> later_readers(const Context& context, int owner, int after);

/// Copying cannot be left out: the function returns the copy, or the source is an input that the graph overwrites.
bool is_observed(const Context& context, int index, const TensorSymbol& source);

/// The input that node `owner` stands for is written by a copy_ at the end.
bool is_written_back(const Context& context, int owner);

}  // namespace megakittens::frontend
