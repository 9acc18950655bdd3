// Icodes by name, for host and device.
#pragma once

#include "support/integers.hpp"

namespace megakittens::ops {

enum Icode : uint16_t {
#define MK_ICODE(name, folder) kIcode_##name,
#include "ops/ops.def"
  kIcodeCount
};
static_assert(kIcode_noop == 0, "zero-filled instructions are noops");
/// From here on the tiles of products, four each with A K-major and then four with A M-major (ops/gemm/tile.hpp).
inline constexpr uint32_t kFirstTileIcode = kIcode_gemm_general_f32 + 1;

}  // namespace megakittens::ops
