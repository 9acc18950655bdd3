// How far a result may lie from fp32 throughout: no farther than eager's own, and a tenth.
#pragma once

#include <span>
#include <string>

namespace megakittens::test {

/// `eager` and `exact` are the reference's results with ReferenceNumerics eager and exact. Empty where the root mean
/// square of got - exact is at most 1.1 times that of eager - exact, plus 2^-18 of that of exact: fp32 sums have an
/// order, which the reference's eager lacks. Else a sentence with the errors. Elements where eager or exact is NaN or
/// infinite are left out; one where only `got` is makes the error infinite. All have the same size.
std::string worse_than_eager(std::span<const float> got, std::span<const float> eager, std::span<const float> exact);

}  // namespace megakittens::test
