#include "emulator/shared_memory.hpp"

#include <fmt/format.h>

namespace megakittens::emulator {

SharedPlace resolve_shared(Machine& machine, Cta& from, std::uint32_t address, std::uint64_t bytes, const char* what,
                           std::uint32_t warp) {
  const std::uint32_t rank = address >> kRankShift;
  const std::uint32_t offset = address & ((1u << kRankShift) - 1);
  const Warp& issuer = *from.warps[warp];
  if (rank >= from.cluster->ctas.size() || offset < kReservedSharedBytes ||
      offset + bytes > from.cluster->ctas[rank]->shared_bytes) {
    machine.add_finding(
        Rule::kOutOfBounds, warp,
        fmt::format("  {} of {} touches {} bytes at shared address {:#x}; the CTA has {} bytes from {:#x}", what,
                    machine.describe(issuer), bytes, address, from.shared_bytes - kReservedSharedBytes,
                    kReservedSharedBytes));
    return {};
  }
  Cta* cta = from.cluster->ctas[rank];
  if (cta != &from && cta->running == 0) {
    machine.add_finding(Rule::kClusterExit, warp,
                        fmt::format("  {} of {} touches shared memory of CTA {}, which has left", what,
                                    machine.describe(issuer), cta->index));
  }
  return {cta, offset};
}

SharedPlace resolve_shared(Machine& machine, std::uint32_t address, std::uint64_t bytes, const char* what) {
  return resolve_shared(machine, machine.cta(), address, bytes, what, machine.warp().index);
}

}  // namespace megakittens::emulator
