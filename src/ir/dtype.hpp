// Element types of tensors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace megakittens::ir {

enum class DType : std::uint8_t { bf16, f16, f32, i64, i32, boolean };

/// Bytes of one element; boolean takes one.
int size_of(DType dtype);
/// "bf16", "f16", "f32", "i64", "i32", "bool".
std::string_view name_of(DType dtype);
/// Inverse of name_of. Throws FormatError naming the text and the known names.
DType parse_dtype(std::string_view text);
bool is_floating(DType dtype);

}  // namespace megakittens::ir
