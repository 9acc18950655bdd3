// What the assembler says about its work: figures per kernel, and remarks that make a kernel unacceptable.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace megakittens::jit {

/// One kernel or non-inlined function of the log of `--ptxas-options=-v`. Bytes per thread, except shared.
struct FunctionUsage {
  std::string name;  ///< mangled
  bool entry = false;
  uint32_t registers = 0;
  uint32_t barriers = 0;
  uint32_t stack_bytes = 0;
  uint32_t spill_store_bytes = 0;
  uint32_t spill_load_bytes = 0;
  uint32_t static_shared_bytes = 0;
};

std::vector<FunctionUsage> parse_usage(std::string_view log);

/// The log's lines that must not be there: serialised wgmma, dropped setmaxnreg, "Potential Performance Loss", spills.
/// Each is a whole line of the log, a spill with the function's name before it.
std::vector<std::string> refused_lines(std::string_view log);

}  // namespace megakittens::jit
