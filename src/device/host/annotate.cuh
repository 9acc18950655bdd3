// Annotations of the running warp for the emulator's reports: its role, its instruction, what it waits for, and the
// names of places in shared memory. Texts are static.
#pragma once

#include "device/host/hooks.hpp"

namespace megakittens::device {

using host::annotate;
using host::mean_phase;
using host::name_shared;
using host::note_wait;

}  // namespace megakittens::device
