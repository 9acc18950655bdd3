// The registered buffers: which host addresses the kernel may use as global memory.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/checker/region.hpp"
#include "emulator/launch.hpp"

namespace megakittens::emulator {

class GlobalMemory {
 public:
  struct Buffer {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t base;  ///< where its region's offsets count from: `begin` rounded down to a shadow cell
    std::unique_ptr<Region> region;
  };

  explicit GlobalMemory(const std::vector<GlobalBuffer>& given);
  /// The buffer that holds all of [address, address + bytes), or null.
  Buffer* find(std::uint64_t address, std::uint64_t bytes);
  /// "'x' + 0x40", or the bare address.
  std::string place(std::uint64_t address);

 private:
  std::vector<Buffer> buffers_;  // by address
  std::size_t last_ = 0;
};

}  // namespace megakittens::emulator
