// Bulk copies of a box of a tensor through a tensor map, rank 1 to 5. For one lane. `at` holds the box's first element,
// fastest dimension first; it may lie outside the tensor. Shared addresses are 128-byte aligned (1024 with a 128-byte
// swizzle, whose pattern follows address bits).
#pragma once

#include "device/core/lanes.cuh"
#include "device/tensor_map.hpp"

namespace megakittens::ptx {

using device::TensorMap;

// The five ranks of one instruction. HEAD and TAIL are the text around "Nd"; coordinates are operands 0 to Rank - 1 and
// the further operands keep their numbers 5.. in every rank, so unused coordinates are passed as zero.
#define MK_BULK_TENSOR(HEAD, MIDDLE, TAIL, ...)                                                                 \
  const int32_t c0 = at[0], c1 = Rank > 1 ? at[Rank > 1 ? 1 : 0] : 0, c2 = Rank > 2 ? at[Rank > 2 ? 2 : 0] : 0, \
                c3 = Rank > 3 ? at[Rank > 3 ? 3 : 0] : 0, c4 = Rank > 4 ? at[Rank > 4 ? 4 : 0] : 0;             \
  if constexpr (Rank == 1) MK_BULK_TENSOR_ASM(HEAD ".1d" MIDDLE, "{%0}", TAIL, __VA_ARGS__);                    \
  if constexpr (Rank == 2) MK_BULK_TENSOR_ASM(HEAD ".2d" MIDDLE, "{%0, %1}", TAIL, __VA_ARGS__);                \
  if constexpr (Rank == 3) MK_BULK_TENSOR_ASM(HEAD ".3d" MIDDLE, "{%0, %1, %2}", TAIL, __VA_ARGS__);            \
  if constexpr (Rank == 4) MK_BULK_TENSOR_ASM(HEAD ".4d" MIDDLE, "{%0, %1, %2, %3}", TAIL, __VA_ARGS__);        \
  if constexpr (Rank == 5) MK_BULK_TENSOR_ASM(HEAD ".5d" MIDDLE, "{%0, %1, %2, %3, %4}", TAIL, __VA_ARGS__)
#define MK_BULK_TENSOR_ASM(BEGIN, COORDINATES, TAIL, ...) \
  asm volatile(BEGIN COORDINATES TAIL ::"r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), __VA_ARGS__ : "memory")

/// sm_90. PTX: "cp.async.bulk.tensor", global to shared. Completes box_bytes on `barrier` (row 1).
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_g2s(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                        uint32_t barrier) {
  MK_BULK_TENSOR("cp.async.bulk.tensor", ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%5], [%6, ",
                 "], [%7];", "r"(destination), "l"(map), "r"(barrier));
}

/// sm_90. PTX: "cp.async.bulk.tensor", global to shared, .L2::cache_hint.
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_g2s_hint(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                             uint32_t barrier, uint64_t policy) {
  MK_BULK_TENSOR("cp.async.bulk.tensor",
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%5], [%6, ", "], [%7], %8;",
                 "r"(destination), "l"(map), "r"(barrier), "l"(policy));
}

/// sm_90. PTX: "cp.async.bulk.tensor", .multicast::cluster. The same offsets of data and barrier in every CTA of the
/// mask; the issuing lane holds every destination's page token (row 26).
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_g2s_multicast(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                                  uint32_t barrier, uint16_t cta_mask) {
  MK_BULK_TENSOR("cp.async.bulk.tensor",
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%5], [%6, ",
                 "], [%7], %8;", "r"(destination), "l"(map), "r"(barrier), "h"(cta_mask));
}

/// sm_90. PTX: "cp.async.bulk.tensor", .multicast::cluster.L2::cache_hint.
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_g2s_multicast_hint(uint32_t destination, const TensorMap* map,
                                                       const int32_t (&at)[Rank], uint32_t barrier, uint16_t cta_mask,
                                                       uint64_t policy) {
  MK_BULK_TENSOR(
      "cp.async.bulk.tensor",
      ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%5], [%6, ",
      "], [%7], %8, %9;", "r"(destination), "l"(map), "r"(barrier), "h"(cta_mask), "l"(policy));
}

/// sm_100a. PTX: "cp.async.bulk.tensor", .cta_group::2. `barrier` may be the shared::cluster address of the pair's
/// leader (row 22); the data goes to the issuing CTA.
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_g2s_pair(uint32_t destination, const TensorMap* map, const int32_t (&at)[Rank],
                                             uint32_t barrier) {
  MK_BULK_TENSOR("cp.async.bulk.tensor",
                 ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%5], [%6, ", "], [%7];",
                 "r"(destination), "l"(map), "r"(barrier));
}

/// sm_90. PTX: "cp.async.bulk.tensor", shared to global. Joins the open bulk group; elements outside are not written.
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_s2g(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source) {
  MK_BULK_TENSOR("cp.async.bulk.tensor", ".global.shared::cta.tile.bulk_group [%5, ", "], [%6];", "l"(map),
                 "r"(source));
}

/// sm_90. PTX: "cp.async.bulk.tensor", shared to global, .L2::cache_hint.
template <int Rank>
MK_DEVICE void cp_async_bulk_tensor_s2g_hint(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source,
                                             uint64_t policy) {
  MK_BULK_TENSOR("cp.async.bulk.tensor", ".global.shared::cta.tile.bulk_group.L2::cache_hint [%5, ", "], [%6], %7;",
                 "l"(map), "r"(source), "l"(policy));
}

/// sm_90. PTX: "cp.reduce.async.bulk.tensor", .add in the map's type (row 13).
template <int Rank>
MK_DEVICE void cp_reduce_async_bulk_tensor_add(const TensorMap* map, const int32_t (&at)[Rank], uint32_t source) {
  MK_BULK_TENSOR("cp.reduce.async.bulk.tensor", ".global.shared::cta.add.tile.bulk_group [%5, ", "], [%6];", "l"(map),
                 "r"(source));
}

/// sm_90. PTX: "cp.async.bulk.prefetch.tensor". A hint that orders nothing.
template <int Rank>
MK_DEVICE void cp_async_bulk_prefetch_tensor_l2(const TensorMap* map, const int32_t (&at)[Rank]) {
  MK_BULK_TENSOR("cp.async.bulk.prefetch.tensor", ".L2.global.tile [%5, ", "];", "l"(map));
}

#undef MK_BULK_TENSOR
#undef MK_BULK_TENSOR_ASM

/// sm_90. PTX: "prefetch / prefetchu", prefetch.tensormap. Brings the 128 bytes into the descriptor cache.
MK_DEVICE void prefetch_tensormap(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map));
}
/// The same for a map in each lane of the mask, `number` maps behind `maps`.
MK_DEVICE void prefetch_tensormap(const TensorMap* maps, device::Lanes<uint32_t> number, device::Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p prefetch.tensormap [%0]; }" ::"l"(maps + number),
               "r"(uint32_t{mask}));
}

/// sm_90. PTX: "membar / fence", fence.proxy.tensormap acquire.sys: before first use of a map in global memory (row
/// 18).
MK_DEVICE void fence_proxy_tensormap_acquire_sys(const TensorMap* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
}
/// The same for a map in each lane of the mask, `number` maps behind `maps`.
MK_DEVICE void fence_proxy_tensormap_acquire_sys(const TensorMap* maps, device::Lanes<uint32_t> number,
                                                 device::Lanes<bool> mask) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p fence.proxy.tensormap::generic.acquire.sys [%0], 128; }" ::"l"(
                   maps + number),
               "r"(uint32_t{mask})
               : "memory");
}

}  // namespace megakittens::ptx
