// The registered buffers: which host addresses the kernel may use as global memory.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/checker/shadow.hpp"
#include "emulator/checker/view.hpp"
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

/// A word of global memory on which releases were made: what an acquire of it learns, and who touched it last.
struct SyncWord {
  Foreign released;                // join of all releases since the last plain overwrite
  std::uint32_t last_toucher = 0;  // context
};
using SyncWords = std::unordered_map<std::uint64_t, SyncWord>;  // by address

}  // namespace megakittens::emulator
