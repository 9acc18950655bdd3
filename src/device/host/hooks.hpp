// What the host's twins of PTX instructions call: the machine's side of each instruction, with plain types. Declared
// here because device code may not include the emulator; defined by the emulator, which programs that run device code
// on the host link.
#pragma once

#include <cstdint>

namespace megakittens::device::host {

inline constexpr std::uint32_t kLanes = 32;

enum class Space : std::uint8_t { kShared, kGlobal };
enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class Rmw : std::uint8_t { kAdd, kCompareSwap };
enum class Scope : std::uint8_t { kCta, kCluster };

struct BulkLoad {
  std::uint32_t destination;
  std::uint32_t barrier;
  std::uint16_t cta_mask = 0;  // 0: the CTA of `destination`
  bool pair = false;           // .cta_group::2: the barrier may be the leader's
};

enum class Reduction : std::uint8_t { kNone, kAddF32, kAddBf16, kAddMapType };
enum class Half : std::uint8_t { kBf16, kF16 };

/// Of a warpgroup (Hopper). `d` is float[n / 2][32], lane fastest.
struct WgmmaOperands {
  float* d;
  int n;
  std::uint64_t descriptor_a = 0;
  const std::uint32_t* registers_a = nullptr;  // [4][32]; null: A from shared memory
  std::uint64_t descriptor_b;
  Half type;
  bool m_major_a;
  bool n_major_b;
  bool accumulate;
};

struct TcgenOperands {
  int cta_group;
  std::uint32_t d;
  bool a_in_tensor_memory;
  std::uint64_t a;  // descriptor or tensor-memory address
  std::uint64_t descriptor_b;
  std::uint32_t instruction;
  bool accumulate;
};

// X(result, name, parameters, arguments): every hook but trap, which does not return.
#define MK_HOOKS(X) \
  /* Special registers. */ \
  X(std::uint32_t, cta_index, (), ()) \
  X(std::uint32_t, cta_count, (), ()) \
  X(std::uint32_t, cluster_rank, (), ()) \
  X(std::uint32_t, cluster_size, (), ()) \
  X(std::uint32_t, warp_index, (), ()) \
  X(std::uint32_t, shared_base, (), ()) \
  X(std::uint64_t, clock_cycles, (), ()) \
  X(std::uint64_t, clock_nanoseconds, (), ()) \
  X(void, sleep_nanoseconds, (std::uint32_t nanoseconds), (nanoseconds)) \
  /* Ordinary and strong accesses of a warp: lane l of `lanes` accesses `address[l]`; data lies at l * bytes. A scalar access is one with lane 0 only. */ \
  X(void, load, (Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data), (space, address, lanes, bytes, data)) \
  X(void, store, (Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data), (space, address, lanes, bytes, data)) \
  /* ld.global.nc: a finding where the kernel writes these bytes. */ \
  X(void, load_constant, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data), (address, lanes, bytes, data)) \
  X(void, load_strong, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data, Order order), (address, lanes, bytes, data, order)) \
  X(void, store_strong, (const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data, Order order), (address, lanes, bytes, data, order)) \
  /* `returns`: atom; otherwise red, which never acquires. */ \
  X(std::uint32_t, read_modify_write, (std::uint32_t* address, Rmw operation, std::uint32_t operand, std::uint32_t expected, Order order, bool returns), (address, operation, operand, expected, order, returns)) \
  /* mbarriers (addresses are of the shared window, rank in the cluster above bit 24). */ \
  X(void, mbarrier_init, (std::uint32_t barrier, std::uint32_t count), (barrier, count)) \
  X(void, mbarrier_inval, (std::uint32_t barrier), (barrier)) \
  X(void, mbarrier_arrive, (std::uint32_t barrier, std::uint32_t count, std::uint32_t expected_bytes, Scope scope), (barrier, count, expected_bytes, scope)) \
  X(void, mbarrier_expect, (std::uint32_t barrier, std::uint32_t bytes), (barrier, bytes)) \
  X(bool, mbarrier_wait, (std::uint32_t barrier, std::uint32_t parity, Scope scope, bool may_suspend), (barrier, parity, scope, may_suspend)) \
  X(std::uint32_t, map_address, (std::uint32_t address, std::uint32_t rank), (address, rank)) \
  /* Fences. */ \
  X(void, fence_mbarrier_init, (), ()) \
  X(void, fence_proxy_async, (bool shared, bool global), (shared, global)) \
  X(void, fence_acquire_release, (bool gpu), (gpu)) \
  X(void, fence_proxy_tensormap, (const void* const* maps, std::uint32_t count), (maps, count)) \
  /* Barriers. */ \
  X(void, named_barrier, (std::uint32_t barrier, std::uint32_t threads, bool wait), (barrier, threads, wait)) /* 0 threads: all of the CTA */ \
  X(void, cluster_barrier_arrive, (), ()) \
  X(void, cluster_barrier_wait, (), ()) \
  /* Bulk copies. */ \
  X(void, bulk_load, (const BulkLoad& load, const void* source, std::uint32_t bytes), (load, source, bytes)) \
  X(void, bulk_load_tensor, (const BulkLoad& load, const void* map, const std::int32_t* at, int rank), (load, map, at, rank)) \
  X(void, bulk_copy_to_cluster, (std::uint32_t destination, std::uint32_t source, std::uint32_t bytes, std::uint32_t barrier), (destination, source, bytes, barrier)) \
  X(void, bulk_store, (void* destination, std::uint32_t source, std::uint32_t bytes, Reduction reduction), (destination, source, bytes, reduction)) \
  X(void, bulk_store_tensor, (const void* map, const std::int32_t* at, int rank, std::uint32_t source, Reduction reduction), (map, at, rank, source, reduction)) \
  X(void, bulk_commit, (), ()) \
  X(void, bulk_wait, (std::uint32_t in_flight, bool read_only), (in_flight, read_only)) \
  /* Products of a warpgroup (Hopper). `d` is float[n / 2][32], lane fastest. */ \
  X(void, wgmma, (const WgmmaOperands& operands), (operands)) \
  X(void, wgmma_fence, (), ()) \
  X(void, wgmma_commit, (), ()) \
  X(void, wgmma_wait, (std::uint32_t in_flight), (in_flight)) \
  /* Tensor memory (Blackwell). */ \
  X(void, tensor_alloc, (int cta_group, std::uint32_t destination, std::uint32_t columns), (cta_group, destination, columns)) \
  X(void, tensor_dealloc, (int cta_group, std::uint32_t address, std::uint32_t columns), (cta_group, address, columns)) \
  X(void, tensor_relinquish, (int cta_group), (cta_group)) \
  X(void, tcgen_mma, (const TcgenOperands& operands), (operands)) \
  X(void, tcgen_commit, (int cta_group, std::uint32_t barrier, std::uint16_t cta_mask), (cta_group, barrier, cta_mask)) /* mask 0: only `barrier` */ \
  /* `values` is uint32_t[columns][32], lane fastest; the load writes it at wait::ld. */ \
  X(void, tensor_load, (std::uint32_t* values, int columns, std::uint32_t address), (values, columns, address)) \
  X(void, tensor_store, (const std::uint32_t* values, int columns, std::uint32_t address), (values, columns, address)) \
  X(void, tensor_wait_loads, (), ()) \
  X(void, tensor_wait_stores, (), ()) \
  X(void, tensor_fence, (bool after), (after)) \
  /* Others. */ \
  X(void, set_registers, (int registers, bool raise), (registers, raise)) \
  /* A finding where a whole warp executes what one lane should (thirty-two arrivals instead of one), or one lane what the whole warp should. */ \
  X(void, require_one_lane, (const char* instruction), (instruction)) \
  X(void, require_whole_warp, (const char* instruction), (instruction)) \
  /* Annotations of the running warp for reports. `role` and `what` are static texts. Device code reaches these through device/annotate.cuh, which is empty on the GPU. */ \
  X(void, annotate, (const char* role, std::int64_t instruction), (role, instruction)) \
  X(void, note_wait, (const char* what, std::uint64_t target), (what, target)) \
  /* The next parity wait of the warp is for this phase, counted from 0 (2^32 - 1: the one before the first). */ \
  X(void, mean_phase, (std::uint32_t phase), (phase)) \
  /* With an index of zero or more: one of several, "name[index]". */ \
  X(void, name_shared, (std::uint32_t address, const char* name, std::int64_t index), (address, name, index))

#define MK_X(result, name, parameters, arguments) result name parameters;
MK_HOOKS(MK_X)
#undef MK_X
[[noreturn]] void trap();

}  // namespace megakittens::device::host
