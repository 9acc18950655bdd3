// The named faults in GPU builds: for a fault of device code, edits of the sources that the library carries, made in
// memory before they are compiled; for a fault of the program nothing here, because programs are the same everywhere.
#pragma once

#include <string_view>
#include <vector>

#include "emulator/named_faults.hpp"
#include "support/edited_interpreter.hpp"

namespace megakittens::test {

struct GpuFault {
  std::string_view name;  ///< emulator::NamedFault::name
  std::vector<SourceEdit> edits = {};
  std::string_view reason = {};  ///< why no GPU build can have it; else empty. With edits: they change no machine code
};

/// One of each of emulator::named_faults(), in their order: with edits, with a reason, or neither where the program
/// alone is changed. Throws InternalError where a fault of device code is in no list.
std::vector<GpuFault> gpu_faults();

}  // namespace megakittens::test
