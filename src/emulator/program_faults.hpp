// Faults planted in a scheduled program: what a scheduler with that fault would have emitted.
#pragma once

#include <cstdint>

#include "program/program.hpp"

namespace megakittens::emulator {

enum class ProgramFault : std::uint8_t {
  none,
  wait_dropped,             // an operand's wait
  reuse_wait_dropped,       // a wait before the first write
  last_producer_forgotten,  // one of several producers of a counter does not count: as if its box were left out
  wait_target_swapped,      // a wait names another counter
  needed_too_few,           // a wait needs one arrival less
  needed_too_many,          // a wait needs one arrival more than there are
  arrival_dropped,          // an instruction does not raise its counter
  arrival_doubled,          // an instruction raises its counter twice
  guard_of_other_operand,   // a wait holds back another operand than the one it is for
  wait_for_later,           // an instruction waits for one that waits for it
  ticket_order,             // in the global queue, a wait for a later ticket
  page_map_of_one_cta,      // one CTA of a pair releases its pages in another order
  page_released_twice,      // a release order names a page twice, another never
  storage_shared,           // two values that live at the same time get one storage
  waits_too_many,           // more waits than an instruction holds
};

/// Changes the first place where the fault can be, in the order of instructions. False where the program has none.
bool plant(program::Program& program, ProgramFault fault);

}  // namespace megakittens::emulator
