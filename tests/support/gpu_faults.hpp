// The named faults in GPU builds: for a fault of device code, edits of the sources that the library carries, made in
// memory before they are compiled; for a fault of the program nothing here, because programs are the same everywhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/named_faults.hpp"
#include "jit/compile.hpp"

namespace megakittens::test {

/// `text` stands in `file` exactly once, and becomes `replacement`.
struct SourceEdit {
  std::string_view file;  ///< as includes name it
  std::string_view text;
  std::string_view replacement;
};

struct GpuFault {
  std::string_view name;  ///< emulator::NamedFault::name
  std::vector<SourceEdit> edits = {};
  std::string_view reason = {};  ///< why no GPU build can have it; else empty. With edits: they change no machine code
};

/// One of each of emulator::named_faults(), in their order: with edits, with a reason, or neither where the program
/// alone is changed. Throws InternalError where a fault of device code is in no list.
std::vector<GpuFault> gpu_faults();

/// The interpreter for Hopper with these edits. Throws InternalError where one does not match exactly once.
jit::CompileRequest edited_interpreter(const std::vector<SourceEdit>& edits);

}  // namespace megakittens::test
