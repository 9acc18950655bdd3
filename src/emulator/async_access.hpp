// What every asynchronous operation carries: who issued it, and what that warp knew when it did.
#pragma once

#include "emulator/machine.hpp"

namespace megakittens::emulator {

struct Issue {
  /// Taken now from the running warp. A tick separates what the warp does next from what the operation may rely on.
  explicit Issue(Machine& machine) : warp(&machine.warp()), context(machine.context()) {
    if (machine.checker() != nullptr) view = warp->view;
  }
  std::uint16_t cta() const { return static_cast<std::uint16_t>(warp->cta->index); }
  /// An access on behalf of the operation, complete when (owner, part, tick) is known.
  Access access(Operation operation, bool write, std::uint16_t owner, std::uint32_t part, std::uint32_t tick) const {
    return {&view, cta(), {owner, static_cast<std::uint16_t>(part), tick, context, operation}, write};
  }

  Warp* warp;
  std::uint32_t context;
  View view;
};

}  // namespace megakittens::emulator
