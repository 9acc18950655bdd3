// The interpreter that `compute-sanitizer --tool racecheck` can follow. The tool orders accesses by an mbarrier only
// for the lane that arrives, and not for the lanes that bar.warp.sync ordered before it, so that it takes every arrival
// of one lane for its warp for a race. In this build each lane arrives for itself.
#pragma once

#include <vector>

#include "support/edited_interpreter.hpp"

namespace megakittens::test {

/// Every mbarrier counts in 32nds of an arrival: inits and the arrivals of single lanes are 32 times as high, whatever
/// barrier they are on, and where one lane speaks for its warp each of the 32 lanes arrives with a 32nd instead. Where
/// it speaks for its warpgroup, with four arrivals, each of the 128 lanes does. Phases therefore complete as they do
/// without the edits, and no type of instruction has counts of its own here.
std::vector<SourceEdit> racecheck_edits();

/// The same with a race that racecheck must report, or its silence says nothing: warpgroups that divided a tile's K
/// read each other's sums without waiting for them. No wait depends on the sums, so that programs still come to their
/// end.
std::vector<SourceEdit> racecheck_edits_and_a_race();

}  // namespace megakittens::test
