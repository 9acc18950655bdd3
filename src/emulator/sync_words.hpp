// Words of global memory on which releases were made: what an acquire of each learns, and who touched it last.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "emulator/checker/view.hpp"

namespace megakittens::emulator {

struct SyncWord {
  Foreign released;                // join of all releases since the last plain overwrite
  std::uint32_t last_toucher = 0;  // context
  bool touched = false;
};

class SyncWords {
 public:
  SyncWord& at(std::uint64_t address) { return words_[address]; }
  SyncWord* find(std::uint64_t address) {
    auto found = words_.find(address);
    return found == words_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<std::uint64_t, SyncWord> words_;
};

}  // namespace megakittens::emulator
