// Finds other programs and runs them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace megakittens {

struct ProcessResult {
  int status = 0;      ///< exit status; 128 and the signal's number where a signal ended it
  std::string output;  ///< what it wrote to standard output and standard error
};

/// Runs a program with nothing on its standard input, and waits. No shell: arguments are taken as they are. Throws
/// UserError where it cannot be started. Safe from several threads.
ProcessResult run_process(const std::vector<std::string>& command);

/// Full path of an executable: on PATH, or where the name has a folder, that file. Empty where there is none.
std::filesystem::path find_program(const std::string& name);

}  // namespace megakittens
