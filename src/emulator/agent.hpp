// Asynchronous work: something that moves when the scheduler picks it, on behalf of a warp that went on.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

class Machine;

class Agent {
 public:
  virtual ~Agent() = default;
  /// Takes one step. False: there is nothing left to do now (the machine forgets the agent; a queue may re-enter).
  virtual bool advance(Machine& machine) = 0;
};

}  // namespace megakittens::emulator
