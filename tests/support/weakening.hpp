// Every hand-off that programs reach, weakened in turn: what nobody notices is redundant, or a hole in the checker.
#pragma once

#include <map>
#include <string>

#include "emulator/faults.hpp"

namespace megakittens::test {

struct Weakening {
  std::uint64_t runs = 0;     // that were tried
  std::string noticed = {};   // the first finding's name; empty: none
  std::string shown_by = {};  // the program
};

/// By place, over all programs for planted faults: at most `most` schedules of each.
std::map<emulator::FaultPlace, Weakening> weaken_everything(std::uint64_t most);

/// Why nobody notices; empty where somebody should.
std::string reason_for_silence(const emulator::FaultPlace& place);

/// "mbarrier.try_wait of page_free by the loader"
std::string to_string(const emulator::FaultPlace& place);

}  // namespace megakittens::test
