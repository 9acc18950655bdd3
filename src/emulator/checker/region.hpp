// A piece of memory that accesses are checked against: a CTA's shared memory, a global buffer, a CTA's tensor memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "emulator/checker/shadow.hpp"

namespace megakittens::emulator {

enum class Space : std::uint8_t { kShared, kGlobal, kTensor };

struct Region {
  Space space;
  std::uint16_t cta;  // owner of shared and tensor memory
  bool read_only;     // reads leave no trace
  std::string name;
  std::uint64_t bytes;
  ShadowMemory shadow;
  std::map<std::uint64_t, std::string> names{};  // offset -> what begins there
  int tag = -1;                                  // GlobalBuffer::tag
  std::uint64_t first = 0;                       // offset at which the buffer itself begins

  /// "page 3 + 0x40 (shared memory of CTA 0)"
  std::string place(std::uint64_t offset) const;
};

}  // namespace megakittens::emulator
