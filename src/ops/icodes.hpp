// Icodes by name, for host and device.
#pragma once

#include "support/integers.hpp"

namespace megakittens::ops {

enum Icode : uint16_t {
#define MK_ICODE(name, folder, colour) kIcode_##name,
#include "ops/ops.def"
  kIcodeCount
};
static_assert(kIcode_noop == 0, "zero-filled instructions are noops");

}  // namespace megakittens::ops
