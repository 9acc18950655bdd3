// Shared-window addresses turned into a CTA and an offset, with the findings for those that are neither.
#pragma once

#include <cstdint>

#include "emulator/machine.hpp"

namespace megakittens::emulator {

struct SharedPlace {
  Cta* cta = nullptr;  // null: out of bounds, and reported
  std::uint32_t offset = 0;
  explicit operator bool() const { return cta != nullptr; }
  std::byte* data() const { return cta->shared + offset; }
};

/// Resolves `bytes` at a shared-window address for the running warp. `what` names the operation in a finding.
SharedPlace resolve_shared(Machine& machine, std::uint32_t address, std::uint64_t bytes, const char* what);
/// As above, of the CTA of `cta`'s cluster with that rank, for agents; `who` describes the issuer.
SharedPlace resolve_shared(Machine& machine, Cta& cta, std::uint32_t address, std::uint64_t bytes, const char* what,
                           std::uint32_t warp);
/// The window address of an offset in a CTA.
constexpr std::uint32_t window_address(std::uint32_t rank, std::uint32_t offset) {
  return rank << kRankShift | offset;
}

}  // namespace megakittens::emulator
