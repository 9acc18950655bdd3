// One program with one fault, launched again and again on a Hopper GPU: what ordinary testing sees of the fault.
#pragma once

#include <filesystem>
#include <string>

#include "emulator/named_faults.hpp"
#include "support/checked_programs.hpp"

namespace megakittens::test {

/// Sets of random inputs that take turns: what an earlier launch left behind is never right by chance.
inline constexpr unsigned kInputSets = 4;

/// The programs that a fault is tried on: four on the whole machine, and the one that shows it on the emulator.
std::vector<CheckedProgram> gpu_fault_programs(const emulator::NamedFault& fault);

struct FaultPlan {
  unsigned launches = 200;              ///< at most
  std::filesystem::path expected = {};  ///< file of the right results, which the reference run writes
  bool reference = false;               ///< of the unfaulted interpreter and program
};

struct FaultVerdict {
  /// "wrong": results differ; "expired wait"; "launch error"; "refused": the runtime does not launch the program; "no
  /// place": the program has nothing that the fault could change; "not seen".
  std::string verdict = {};
  unsigned launches = 0;  ///< made until then
  std::string detail = {};
};

/// Loads the interpreter that MEGAKITTENS_CACHE_DIR holds. After a launch error the context is lost: one call a
/// process. The reference run throws ExecutionError where results are not those of ir::evaluate, or change between
/// launches.
FaultVerdict run_fault(const CheckedProgram& checked, emulator::ProgramFault fault, const FaultPlan& plan);

}  // namespace megakittens::test
