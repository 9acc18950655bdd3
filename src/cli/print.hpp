// What commands say on standard output.
#pragma once

#include <string_view>

namespace megakittens::cli {

/// Names come from files: control characters are escaped.
void print(std::string_view text);
void print_line(std::string_view text);
/// Text of one JSON value.
void print_json(std::string_view json);

}  // namespace megakittens::cli
