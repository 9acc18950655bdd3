// One CTA: shared memory, its synchronisation objects and its warps; and the cluster it belongs to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include "emulator/checker/shadow.hpp"
#include "emulator/mbarrier.hpp"
#include "emulator/warp.hpp"

namespace megakittens::emulator {

struct Cluster;
class WgmmaQueue;
class TensorMemory;
class TcgenQueue;

/// Shared-window addresses as on the hardware: the rank in the cluster above bit 24, the first KB reserved by the
/// system.
inline constexpr std::uint32_t kReservedSharedBytes = 1024;
inline constexpr std::uint32_t kRankShift = 24;

struct NamedBarrier {
  std::uint32_t expected = 0;  // threads, of the use under way; 0: none
  std::uint32_t arrived = 0;
  std::uint64_t generation = 0;
  std::vector<Waiter> waiters;
  View pending_view, done_view;
  std::uint32_t last_toucher = 0;
};

struct Cta {
  Cta();
  ~Cta();
  Cta(const Cta&) = delete;
  Cta& operator=(const Cta&) = delete;

  std::uint32_t index = 0;
  std::uint32_t rank = 0;  // in its cluster
  Cluster* cluster = nullptr;
  std::byte* shared = nullptr;     // 1024-aligned; offset 0 of the window
  std::uint32_t shared_bytes = 0;  // reserved part included
  std::unique_ptr<std::byte[]> shared_storage;
  std::unique_ptr<Region> shared_region;
  std::uint32_t components = component::kMbarrier;
  std::vector<std::unique_ptr<Mbarrier>> mbarriers;
  std::vector<std::uint16_t> mbarrier_at;  // offset / 8 -> number in mbarriers plus one
  std::array<NamedBarrier, 16> named_barriers;
  std::vector<std::unique_ptr<Warp>> warps;
  View cluster_pending, cluster_done;           // views that this CTA's warps publish at the cluster barrier
  std::unordered_set<const void*> fenced_maps;  // tensor maps in global memory that were made visible (row 18)
  std::uint32_t running = 0;
  std::uint32_t free_registers = 0;  // of the SM's 2048 a lane and warp slot, those that no warp of this CTA holds
  std::vector<Waiter> register_waiters;
  std::uint32_t async_in_flight = 0;  // agents that touch this CTA's shared memory
  std::array<std::unique_ptr<WgmmaQueue>, 4> wgmma;
  std::unique_ptr<TensorMemory> tensor_memory;
  std::unique_ptr<TcgenQueue> tcgen;
};

struct Cluster {
  std::vector<Cta*> ctas;
  std::uint32_t arrived = 0;
  std::uint64_t generation = 0;
  std::vector<Waiter> waiters;
  Foreign pending, done;
};

}  // namespace megakittens::emulator
