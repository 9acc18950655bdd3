// Who waits for whom, in words, when nothing can move.
#include <fmt/format.h>

#include "emulator/machine.hpp"

namespace megakittens::emulator {
namespace {

constexpr int kMostLines = 48;

}  // namespace

std::string Machine::wait_text(const Warp& warp) {
  const Wait& wait = warp.wait;
  auto toucher = [&](std::uint32_t context) {
    if (checker_ == nullptr || context == 0) return std::string("touched by nobody yet");
    return fmt::format("last touched by {}", checker_->describe(context));
  };
  switch (wait.kind) {
    case WaitKind::kMbarrier: {
      const Mbarrier& barrier = *static_cast<const Mbarrier*>(wait.object);
      return fmt::format(
          "waits for parity {} of mbarrier {} (phase {}, {} of {} arrivals missing, {} bytes expected; {})", wait.value,
          barrier.cta->shared_region->place(barrier.offset), barrier.phases, barrier.pending, barrier.count,
          barrier.transactions, toucher(barrier.last_toucher));
    }
    case WaitKind::kNamedBarrier: {
      const NamedBarrier& barrier = warp.cta->named_barriers[wait.value];
      return fmt::format("waits at named barrier {} ({} of {} threads arrived; {})", wait.value, barrier.arrived,
                         barrier.expected, toucher(barrier.last_toucher));
    }
    case WaitKind::kClusterBarrier:
      return fmt::format("waits at the cluster barrier ({} warps arrived)", warp.cta->cluster->arrived);
    case WaitKind::kWords: {
      if (wait.object != nullptr) {
        const Mbarrier& barrier = *static_cast<const Mbarrier*>(wait.object);
        return fmt::format("polls mbarrier {} (phase {}, {} of {} arrivals missing)",
                           barrier.cta->shared_region->place(barrier.offset), barrier.phases, barrier.pending,
                           barrier.count);
      }
      std::string out = fmt::format("polls {}", global_.place(wait.value));
      if (global_.find(wait.value, 4) != nullptr) {
        out += fmt::format(", which holds {}", *reinterpret_cast<const std::uint32_t*>(wait.value));
      }
      if (warp.wait_note != nullptr) out += fmt::format(", for {} to reach {}", warp.wait_note, warp.wait_target);
      const auto word = sync_words_.find(wait.value);
      return fmt::format("{}; {}", out, toucher(word != sync_words_.end() ? word->second.last_toucher : 0));
    }
    case WaitKind::kBulkGroups:
      return fmt::format("waits for its bulk stores ({} groups committed, {} complete)", warp.bulk.committed,
                         warp.bulk.complete_through);
    case WaitKind::kWgmmaGroups:
      return "waits for its products";
    case WaitKind::kTensorMemory:
      return "waits for tensor memory";
    case WaitKind::kRegisters:
      return fmt::format("waits for registers: it has {} and asks for {}, {} are free in its CTA", warp.registers,
                         wait.value, warp.cta->free_registers);
    case WaitKind::kNothing:
      break;
  }
  return "runs";
}

std::string Machine::deadlock_text() {
  std::string out = fmt::format("deadlock: nothing can move and {} warps have not ended\n", unfinished_);
  int lines = 0;
  for (const auto& cta : ctas_) {
    for (const auto& warp : cta->warps) {
      if (warp->finished || ++lines > kMostLines) continue;
      out += fmt::format("  {} {}\n", describe(*warp), wait_text(*warp));
    }
  }
  if (lines > kMostLines) out += fmt::format("  and {} more\n", lines - kMostLines);
  return out;
}

}  // namespace megakittens::emulator
