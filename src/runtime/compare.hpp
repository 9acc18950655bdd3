// How far a result is from the reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "program/program.hpp"

namespace megakittens::runtime {

struct Comparison {
  std::int64_t count = 0;
  std::int64_t mismatches = 0;  ///< elements beyond the tolerance
  double largest = 0;           ///< of |got - want|, where both are finite
  double mean = 0;
  std::int64_t worst = -1;  ///< row-major number of the first mismatch, or of the largest error where all match
  float got = 0;            ///< there
  float want = 0;

  bool ok() const { return mismatches == 0; }
};

/// The relative tolerance of a type: 2^-6 for bf16, 2^-9 for f16, 2^-16 for f32, 0 for integers and bool.
double tolerance(program::ElementType type);

/// An element matches where |got - want| <= tolerance * (|want| + r) + slack, r the root mean square of the finite
/// elements wanted: sums that cancel keep the error of their terms. NaN matches NaN, infinities match themselves. Both
/// have the same size.
Comparison compare(program::ElementType type, std::span<const float> got, std::span<const float> want,
                   double slack = 0);

/// "largest error 0.0078, mean 0.0003" and, for a mismatch, where.
std::string to_string(const Comparison& comparison);

}  // namespace megakittens::runtime
