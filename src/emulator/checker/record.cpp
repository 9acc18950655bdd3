#include "emulator/checker/record.hpp"

namespace megakittens::emulator {

const char* name_of(Operation operation) {
  constexpr const char* kNames[] = {"ordinary load", "ordinary store", "atomic access",  "ld.global.nc",
                                    "bulk load",     "bulk store",     "bulk reduction", "wgmma",
                                    "tcgen05.mma",   "tcgen05.cp",     "tcgen05.ld",     "tcgen05.st"};
  return kNames[static_cast<int>(operation)];
}

}  // namespace megakittens::emulator
