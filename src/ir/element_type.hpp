// Element types of tensors, for host and device.
#pragma once

#include "support/integers.hpp"

namespace megakittens::ir {

enum class DType : uint8_t {
#define MK_DTYPE(name, text, bytes, kind) name,
#include "ir/dtypes.def"
};

/// In the order in which promotion prefers them, the last one most.
enum class DTypeKind : uint8_t { truth, integer, floating };

}  // namespace megakittens::ir
