// What the host's twins of PTX instructions call: the machine's side of each instruction, with plain types. Declared
// here because device code may not include the emulator; defined by the emulator, which programs that run device code
// on the host link.
#pragma once

#include <cstdint>

namespace megakittens::device::host {

inline constexpr std::uint32_t kLanes = 32;

// Special registers.
std::uint32_t cta_index();
std::uint32_t cta_count();
std::uint32_t cluster_rank();
std::uint32_t cluster_size();
std::uint32_t warp_index();
std::uint32_t shared_base();
std::uint64_t clock_cycles();
std::uint64_t clock_nanoseconds();
void sleep_nanoseconds(std::uint32_t nanoseconds);
[[noreturn]] void trap();

// Ordinary and strong accesses of a warp: lane l of `lanes` accesses `address[l]`; data lies at l * bytes. A scalar
// access is one with lane 0 only.
enum class Space : std::uint8_t { kShared, kGlobal };
void load(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data);
void store(Space space, const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data);
/// ld.global.nc: a finding where the kernel writes these bytes.
void load_constant(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data);

enum class Order : std::uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class Rmw : std::uint8_t { kAdd, kCompareSwap };
void load_strong(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, void* data, Order order);
void store_strong(const std::uint64_t* address, std::uint32_t lanes, std::uint32_t bytes, const void* data,
                  Order order);
/// `returns`: atom; otherwise red, which never acquires.
std::uint32_t read_modify_write(std::uint32_t* address, Rmw operation, std::uint32_t operand, std::uint32_t expected,
                                Order order, bool returns);

// mbarriers (addresses are of the shared window, rank in the cluster above bit 24).
enum class Scope : std::uint8_t { kCta, kCluster };
void mbarrier_init(std::uint32_t barrier, std::uint32_t count);
void mbarrier_inval(std::uint32_t barrier);
void mbarrier_arrive(std::uint32_t barrier, std::uint32_t count, std::uint32_t expected_bytes, Scope scope);
void mbarrier_expect(std::uint32_t barrier, std::uint32_t bytes);
bool mbarrier_wait(std::uint32_t barrier, std::uint32_t parity, Scope scope, bool may_suspend);
std::uint32_t map_address(std::uint32_t address, std::uint32_t rank);

// Fences.
void fence_mbarrier_init();
void fence_proxy_async(bool shared, bool global);
void fence_acquire_release(bool gpu);
void fence_proxy_tensormap(const void* const* maps, std::uint32_t count);

// Barriers.
void named_barrier(std::uint32_t barrier, std::uint32_t threads, bool wait);  // 0 threads: all of the CTA
void cluster_barrier_arrive();
void cluster_barrier_wait();

// Bulk copies.
struct BulkLoad {
  std::uint32_t destination;
  std::uint32_t barrier;
  std::uint16_t cta_mask = 0;  // 0: the CTA of `destination`
  bool pair = false;           // .cta_group::2: the barrier may be the leader's
};
void bulk_load(const BulkLoad& load, const void* source, std::uint32_t bytes);
void bulk_load_tensor(const BulkLoad& load, const void* map, const std::int32_t* at, int rank);
void bulk_copy_to_cluster(std::uint32_t destination, std::uint32_t source, std::uint32_t bytes, std::uint32_t barrier);
enum class Reduction : std::uint8_t { kNone, kAddF32, kAddBf16, kAddMapType };
void bulk_store(void* destination, std::uint32_t source, std::uint32_t bytes, Reduction reduction);
void bulk_store_tensor(const void* map, const std::int32_t* at, int rank, std::uint32_t source, Reduction reduction);
void bulk_commit();
void bulk_wait(std::uint32_t in_flight, bool read_only);

// Products of a warpgroup (Hopper). `d` is float[n / 2][32], lane fastest.
enum class Half : std::uint8_t { kBf16, kF16 };
struct WgmmaOperands {
  float* d;
  int n;
  std::uint64_t descriptor_a = 0;
  const std::uint32_t* registers_a = nullptr;  // [4][32]; null: A from shared memory
  std::uint64_t descriptor_b;
  Half type;
  bool n_major_b;
  bool accumulate;
};
void wgmma(const WgmmaOperands& operands);
void wgmma_fence();
void wgmma_commit();
void wgmma_wait(std::uint32_t in_flight);

// Tensor memory (Blackwell).
void tensor_alloc(int cta_group, std::uint32_t destination, std::uint32_t columns);
void tensor_dealloc(int cta_group, std::uint32_t address, std::uint32_t columns);
void tensor_relinquish(int cta_group);
struct TcgenOperands {
  int cta_group;
  std::uint32_t d;
  bool a_in_tensor_memory;
  std::uint64_t a;  // descriptor or tensor-memory address
  std::uint64_t descriptor_b;
  std::uint32_t instruction;
  bool accumulate;
};
void tcgen_mma(const TcgenOperands& operands);
void tcgen_commit(int cta_group, std::uint32_t barrier, std::uint16_t cta_mask);  // mask 0: only `barrier`
/// `values` is uint32_t[columns][32], lane fastest; the load writes it at wait::ld.
void tensor_load(std::uint32_t* values, int columns, std::uint32_t address);
void tensor_store(const std::uint32_t* values, int columns, std::uint32_t address);
void tensor_wait_loads();
void tensor_wait_stores();
void tensor_fence(bool after);

// Others.
void set_registers(int registers, bool raise);
/// A finding where a whole warp executes what one lane should (thirty-two arrivals instead of one), or one lane what
/// the whole warp should.
void require_one_lane(const char* instruction);
void require_whole_warp(const char* instruction);

// Annotations of the running warp for reports. `role` and `what` are static texts. Device code reaches these through
// device/annotate.cuh, which is empty on the GPU.
void annotate(const char* role, std::int64_t instruction);
void note_wait(const char* what, std::uint64_t target);
/// The next parity wait of the warp is for this phase, counted from 0 (2^32 - 1: the one before the first).
void mean_phase(std::uint32_t phase);
/// With an index of zero or more: one of several, "name[index]".
void name_shared(std::uint32_t address, const char* name, std::int64_t index = -1);

}  // namespace megakittens::device::host
