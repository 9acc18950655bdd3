// The hooks as a table of functions: how device code that lies in a library of its own reaches the machine, whichever
// program that machine is part of and whatever it exports. HostKernel is all that such a library shows.
#pragma once

#include "device/core/host/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::device::host {

/// Of the table and of HostKernel; a library with another number is not used.
inline constexpr std::uint32_t kHookTableVersion = 2;

// X(result, name, parameters, arguments): every hook but trap, which does not return.
#define MK_HOOKS(X) \
  X(std::uint32_t, cta_index, (), ()) \
  X(std::uint32_t, cta_count, (), ()) \
  X(std::uint32_t, cluster_rank, (), ()) \
  X(std::uint32_t, cluster_size, (), ()) \
  X(std::uint32_t, warp_index, (), ()) \
  X(std::uint32_t, shared_base, (), ()) \
  X(std::uint64_t, clock_cycles, (), ()) \
  X(std::uint64_t, clock_nanoseconds, (), ()) \
  X(void, sleep_nanoseconds, (std::uint32_t nanoseconds), (nanoseconds)) \
  X(void, load, (Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data), (space, address, lanes, bytes, data)) \
  X(void, store, (Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data), (space, address, lanes, bytes, data)) \
  X(void, load_constant, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data), (address, lanes, bytes, data)) \
  X(void, load_strong, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data, Order order), (address, lanes, bytes, data, order)) \
  X(void, store_strong, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data, Order order), (address, lanes, bytes, data, order)) \
  X(std::uint32_t, read_modify_write, (std::uint32_t* address, Rmw operation, std::uint32_t operand, std::uint32_t expected, Order order, bool returns), (address, operation, operand, expected, order, returns)) \
  X(void, mbarrier_init, (std::uint32_t barrier, std::uint32_t count), (barrier, count)) \
  X(void, mbarrier_inval, (std::uint32_t barrier), (barrier)) \
  X(void, mbarrier_arrive, (std::uint32_t barrier, std::uint32_t count, std::uint32_t expected_bytes, Scope scope), (barrier, count, expected_bytes, scope)) \
  X(void, mbarrier_expect, (std::uint32_t barrier, std::uint32_t bytes), (barrier, bytes)) \
  X(bool, mbarrier_wait, (std::uint32_t barrier, std::uint32_t parity, Scope scope, bool may_suspend), (barrier, parity, scope, may_suspend)) \
  X(std::uint32_t, map_address, (std::uint32_t address, std::uint32_t rank), (address, rank)) \
  X(void, fence_mbarrier_init, (), ()) \
  X(void, fence_proxy_async, (bool shared, bool global), (shared, global)) \
  X(void, fence_acquire_release, (bool gpu), (gpu)) \
  X(void, fence_proxy_tensormap, (const void* const* maps, std::uint32_t count), (maps, count)) \
  X(void, named_barrier, (std::uint32_t barrier, std::uint32_t threads, bool wait), (barrier, threads, wait)) \
  X(void, cluster_barrier_arrive, (), ()) \
  X(void, cluster_barrier_wait, (), ()) \
  X(void, bulk_load, (const BulkLoad& load, const void* source, std::uint32_t bytes), (load, source, bytes)) \
  X(void, bulk_load_tensor, (const BulkLoad& load, const void* map, const std::int32_t* at, int rank), (load, map, at, rank)) \
  X(void, bulk_copy_to_cluster, (std::uint32_t destination, std::uint32_t source, std::uint32_t bytes, std::uint32_t barrier), (destination, source, bytes, barrier)) \
  X(void, bulk_store, (void* destination, std::uint32_t source, std::uint32_t bytes, Reduction reduction), (destination, source, bytes, reduction)) \
  X(void, bulk_store_tensor, (const void* map, const std::int32_t* at, int rank, std::uint32_t source, Reduction reduction), (map, at, rank, source, reduction)) \
  X(void, bulk_commit, (), ()) \
  X(void, bulk_wait, (std::uint32_t in_flight, bool read_only), (in_flight, read_only)) \
  X(void, wgmma, (const WgmmaOperands& operands), (operands)) \
  X(void, wgmma_fence, (), ()) \
  X(void, wgmma_commit, (), ()) \
  X(void, wgmma_wait, (std::uint32_t in_flight), (in_flight)) \
  X(void, tensor_alloc, (int cta_group, std::uint32_t destination, std::uint32_t columns), (cta_group, destination, columns)) \
  X(void, tensor_dealloc, (int cta_group, std::uint32_t address, std::uint32_t columns), (cta_group, address, columns)) \
  X(void, tensor_relinquish, (int cta_group), (cta_group)) \
  X(void, tcgen_mma, (const TcgenOperands& operands), (operands)) \
  X(void, tcgen_commit, (int cta_group, std::uint32_t barrier, std::uint16_t cta_mask), (cta_group, barrier, cta_mask)) \
  X(void, tensor_load, (std::uint32_t* values, int columns, std::uint32_t address), (values, columns, address)) \
  X(void, tensor_store, (const std::uint32_t* values, int columns, std::uint32_t address), (values, columns, address)) \
  X(void, tensor_wait_loads, (), ()) \
  X(void, tensor_wait_stores, (), ()) \
  X(void, tensor_fence, (bool after), (after)) \
  X(void, set_registers, (int registers, bool raise), (registers, raise)) \
  X(void, require_one_lane, (const char* instruction), (instruction)) \
  X(void, require_whole_warp, (const char* instruction), (instruction)) \
  X(void, annotate, (const char* role, std::int64_t instruction), (role, instruction)) \
  X(void, note_wait, (const char* what, std::uint64_t target), (what, target)) \
  X(void, mean_phase, (std::uint32_t phase), (phase)) \
  X(void, name_shared, (std::uint32_t address, const char* name, std::int64_t index), (address, name, index))

struct HookTable {
// NOLINTBEGIN(bugprone-macro-parentheses): a member's name
#define MK_X(result, name, parameters, arguments) decltype(&host::name) name;
  MK_HOOKS(MK_X)
#undef MK_X
  // NOLINTEND(bugprone-macro-parentheses)
  decltype(&host::trap) trap;
  /// Where the machine's single_lane_depth of this thread lies: a library of its own has another.
  std::uint32_t* (*lane_depth)();
};

/// An interpreter, compiled for the host, in a library of its own.
struct HostKernel {
  std::uint32_t version;
  std::uint32_t warps;
  std::uint32_t shared_bytes;
  std::uint32_t pages;
  std::uint32_t page_bytes;
  std::uint32_t slots;
  void (*bind)(const HookTable* table);  ///< before the first run; the table stays for good
  void (*kernel)(const void* parameters);
};

/// The one name that the library exports: a function without arguments that gives its const HostKernel*.
inline constexpr const char* kHostKernelName = "megakittens_host_kernel";

}  // namespace megakittens::device::host
