// Program files: the binary form, or the text form in files whose name ends in ".txt".
#pragma once

#include <string>
#include <string_view>

#include "program/program.hpp"

namespace megakittens::runtime {

/// Reads either form, whatever the name. Throws UserError naming the path where it cannot be read, FormatError that
/// begins with the path for a damaged or foreign file, UserError naming an instruction type that it uses
/// and that is not registered.
program::Program load_program(const std::string& path);
void save_program(const program::Program& program, const std::string& path);

/// The bytes begin as a program file does, in either form.
bool is_program_file(std::string_view bytes);
/// `path` is for messages.
program::Program parse_program(std::string_view bytes, const std::string& path);

}  // namespace megakittens::runtime
