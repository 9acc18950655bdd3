// The commands of the program `megakittens`: each adds itself to the parser and, where it is chosen, gives an exit
// code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace megakittens::cli {

/// Exit codes, as docs/reference/cli.md lists them.
inline constexpr int kSuccess = 0;
inline constexpr int kWrongResult = 1;    ///< a mismatch with the reference, or findings of verifier or emulator
inline constexpr int kUserMistake = 2;    ///< an unknown option, a missing or damaged file, something unsupported
inline constexpr int kInternalFault = 3;  ///< a defect of ours

struct Command {
  CLI::App* parser = nullptr;
  std::function<int()> run;
};

Command add_schedule(CLI::App& app);
Command add_run(CLI::App& app);
Command add_check(CLI::App& app);
Command add_types(CLI::App& app);
Command add_inspect(CLI::App& app);
Command add_doctor(CLI::App& app);
Command add_cubins(CLI::App& app);

}  // namespace megakittens::cli
