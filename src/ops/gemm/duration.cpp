#include "ops/gemm/duration.hpp"

#include <algorithm>

#include "ops/gemm/arguments.hpp"
#include "ops/gemm/tile.hpp"

namespace megakittens::ops::gemm {
namespace {

/// For each of K: twice what the slowest tile takes.
constexpr std::uint64_t tensor_core_clocks() {
  std::uint64_t most = 0;
  for (const Tile& tile : kTiles) most = std::max<std::uint64_t>(most, tile.chunk_clocks);
  return 2 * most / kBlock;
}
// Without tensor cores 128 fused multiply-adds in each of 8 warps, of which four run at once, and as many loads: at
// least 256.
constexpr std::uint64_t kGeneralClocks = 1024;

std::uint64_t clocks_of(const program::Program& program, const program::Instruction& instruction) {
  if (!is_product(instruction.icode)) return 0;
  const auto depth = static_cast<std::uint64_t>(program.records[instruction.node].parameters[kDepth]);
  return depth * (Kind(instruction.icode).general ? kGeneralClocks : tensor_core_clocks());
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
