#include "ops/gemm/duration.hpp"

#include "ops/gemm/arguments.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops::gemm {
namespace {

// For each of K. Tensor cores take 16 for the largest tile; a tile without them is 128 fused multiply-adds in each of 8
// warps, of which four run at once, and as many loads: at least 256.
constexpr std::uint64_t kTensorCores = 32, kGeneral = 1024;

}  // namespace

std::uint64_t clocks_of(const program::NodeRecord& record, std::uint16_t icode) {
  const bool general = icode >= kIcode_gemm_general_bf16 && icode <= kIcode_gemm_general_f32;
  const auto depth = static_cast<std::uint64_t>(record.parameters[kDepth]);
  return depth * (general ? kGeneral : kTensorCores);
}

}  // namespace megakittens::ops::gemm
