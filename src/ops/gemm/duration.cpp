#include "ops/gemm/duration.hpp"

#include <algorithm>

#include "ops/gemm/arguments.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops::gemm {
namespace {

// For each of K. Tensor cores take 16 for the largest tile; a tile without them is 128 fused multiply-adds in each of 8
// warps, of which four run at once, and as many loads: at least 256.
constexpr std::uint64_t kTensorCores = 32, kGeneral = 1024;

std::uint64_t clocks_of(const program::Program& program, const program::Instruction& instruction) {
  const std::uint32_t icode = instruction.icode;
  const bool general = icode >= kIcode_gemm_general_bf16 && icode <= kIcode_gemm_general_f32;
  if (!general && (icode < kIcode_gemm_bf16_kmajor || icode > kIcode_gemm_narrow_f16_nmajor)) return 0;
  const auto depth = static_cast<std::uint64_t>(program.records[instruction.node].parameters[kDepth]);
  return depth * (general ? kGeneral : kTensorCores);
}

}  // namespace

std::uint64_t most_clocks(const program::Program& program) {
  std::uint64_t longest = 0, all = 0;
  for (const program::Instruction& instruction : program.instructions) {
    const std::uint64_t clocks = clocks_of(program, instruction);
    longest = std::max(longest, clocks);
    all += clocks;
  }
  return all / program.config.sms + 2 * longest;
}

}  // namespace megakittens::ops::gemm
