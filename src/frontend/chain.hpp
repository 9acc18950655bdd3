// Building the body of one pointwise call.
#pragma once

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

}  // namespace megakittens::frontend
