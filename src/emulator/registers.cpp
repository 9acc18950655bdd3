// setmaxnreg: the CTA's registers as an account. Raising waits until others have given enough back.
#include <fmt/format.h>

#include "device/host/hooks.hpp"
#include "emulator/machine.hpp"

namespace megakittens::device::host {
using namespace emulator;

void set_registers(int registers, bool raise) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  Cta& cta = *warp.cta;
  const std::uint32_t wanted = static_cast<std::uint32_t>(registers);
  if (raise ? wanted < warp.registers : wanted > warp.registers) {
    machine.add_finding(Rule::kBadOperand, wanted,
                        fmt::format("  setmaxnreg.{} of {} to {} registers; it has {}", raise ? "inc" : "dec",
                                    machine.describe(warp), wanted, warp.registers));
    return;
  }
  while (raise && cta.free_registers < wanted - warp.registers) {
    cta.register_waiters.push_back(machine.waiter());
    machine.park({WaitKind::kRegisters, nullptr, wanted, 0});
  }
  cta.free_registers = cta.free_registers + warp.registers - wanted;
  warp.registers = wanted;
  machine.wake_all(cta.register_waiters);
  machine.step();
}

}  // namespace megakittens::device::host
