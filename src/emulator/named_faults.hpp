// The one list of faults that can be planted: what each weakens, and which rule must notice.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/faults.hpp"
#include "emulator/program_faults.hpp"

namespace megakittens::emulator {

struct NamedFault {
  std::string_view name;
  std::string_view weakens;   // in words
  std::string_view shown_by;  // the program of tests/support/checked_programs.cpp that shows it
  bool in_twins = false;      // planted at `twin`, for `role` and `object` alone where they are not empty
  FaultPoint twin = {};
  std::string_view role = {};
  std::string_view object = {};
  ProgramFault program = ProgramFault::none;
  /// Rule of the static verifier that names it; empty where the program itself is right.
  std::string_view verifier = {};
  /// Findings of a run, one of which it must show, separated by '|'; empty where no run is made: the program is
  /// refused, or the interpreter does not yet do what would go wrong.
  std::string_view checker = {};

  std::vector<PlantedFault> twins() const;
  std::vector<std::string_view> checker_rules() const;
};

/// In the order of the report.
std::span<const NamedFault> named_faults();

/// "NAME", or "POINT[:FILTER=VALUE,...]" with a FaultPoint's name and the filters role, object, cta, warp and nth.
struct FaultChoice {
  std::vector<PlantedFault> twins;
  std::vector<ProgramFault> program;
};
/// Throws OptionError naming what is known.
FaultChoice parse_fault(const std::string& text);

}  // namespace megakittens::emulator
