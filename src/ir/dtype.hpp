// What the host knows of element types.
#pragma once

#include <string>
#include <string_view>

#include "ir/element_type.hpp"

namespace megakittens::ir {

/// Bytes of one element; boolean takes one.
int size_of(DType dtype);
/// "bf16", "f16", "f32", "i64", "i32", "bool".
std::string_view name_of(DType dtype);
/// Inverse of name_of. Throws FormatError naming the text and the known names.
DType parse_dtype(std::string_view text);
/// False for a number that no type has: a file's.
bool is_dtype(DType dtype);
DTypeKind kind_of(DType dtype);
inline bool is_floating(DType dtype) {
  return kind_of(dtype) == DTypeKind::floating;
}

}  // namespace megakittens::ir
