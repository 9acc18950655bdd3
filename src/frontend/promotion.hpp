// Types that PyTorch converts operands to before it computes.
#pragma once

#include <array>

#include "frontend/context.hpp"

namespace megakittens::frontend {

/// Whether a number in a call is rounded to the type that is computed in, as comparisons do, or used as it is:
/// arithmetic computes in fp32, as PyTorch's GPU kernels do, whose fp32 a number is.
enum class Numbers : std::uint8_t { exact, rounded };

/// The arguments "self" and `second` as they are computed with: where the common type has 16 bits (torch.result_type:
/// that of the tensors with dimensions, unless the other side is of a higher kind), the other types' tensors are cast
/// to it. Beside bf16, 0.1 is compared as 0.10009765625, and the integer 257 is multiplied as 256. Throws NotResolved
/// for arguments that are neither a tensor nor a number.
std::array<Symbol, 2> promoted(const Call& call, Numbers numbers, const char* second = "other");

}  // namespace megakittens::frontend
