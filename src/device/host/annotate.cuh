// Annotations of the running warp for the emulator's reports: its role, its instruction, what it waits for, and the
// names of places in shared memory. Texts are static.
#pragma once

#include "device/host/hooks.hpp"

namespace megakittens::device {

using host::annotate;
using host::mean_phase;
using host::note_wait;

inline void name_shared(std::uint32_t address, const char* name, std::int64_t index = -1) {
  host::name_shared(address, name, index);
}

}  // namespace megakittens::device
