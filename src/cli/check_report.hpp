// What `check` has to say.
#pragma once

#include <string>
#include <vector>

#include "emulator/explorer.hpp"
#include "support/json.hpp"

namespace megakittens::cli {

struct CheckReport {
  CheckReport(const program::Program& p, const emulator::ExploreOptions& o, const std::vector<std::string>& f)
      : program(p), options(o), faults(f) {}

  const program::Program& program;
  const emulator::ExploreOptions& options;
  const std::vector<std::string>& faults;
  std::vector<std::string> verifier;  ///< its findings, as sentences
  double verify_seconds = 0;
  bool ran = false;  ///< false: the verifier found what makes the program unfit to run
  bool replayed = false;
  emulator::Exploration exploration;
  double seconds = 0;
  std::string note;  ///< about recording or replaying; lines

  bool ok() const { return verifier.empty() && ran && exploration.ok(); }
};

std::string to_text(const CheckReport& report);
Json to_json(const CheckReport& report);

}  // namespace megakittens::cli
