// What a role's warp knows while it works: the launch, its place in the instruction stream, and the current
// instruction.
#pragma once

#include "device/core/annotations.cuh"
#include "device/core/warp.cuh"
#include "device/machine.cuh"
#include "device/tensor_map.hpp"
#include "device/vocabulary/build.cuh"
#include "program/launch.hpp"

namespace megakittens::device {

using program::Instruction;
using program::LaunchParameters;
using program::NodeRecord;
using program::OperandRecord;
using program::Role;
using program::WaitKind;

/// The one value that all lanes agree on, or that the single lane holds.
template <class T>
MK_DEVICE T lane_value(const Lanes<T>& value) {
#if MK_ON_GPU
  return value;
#else
  return value.v[0];
#endif
}

/// A word of shared memory that is the same for all who read it.
MK_DEVICE uint32_t shared_word(uint32_t address) {
  return lane_value<uint32_t>(ptx::ld_shared_u32(address));
}

/// Constant data in global memory, written before the launch and never during it.
template <class T>
MK_DEVICE T constant(const T* address) {
  return *address;
}

/// As reports name roles.
MK_DEVICE const char* role_name(Role role) {
  switch (role) {
    case Role::controller:
      return "controller";
    case Role::loader:
      return "loader";
    case Role::follower:
      return "follower";
    case Role::launcher:
      return "launcher";
    case Role::storer:
      return "storer";
    default:
      return "consumer";
  }
}

/// An operand as the current instruction sees it: element (row, column) of the last two dimensions lies at
/// base + row * row_bytes + column * column_bytes. The controller resolves it once an instruction.
struct OperandWindow {
  char* base;
  int64_t row_bytes;
  int32_t column_bytes;
  uint32_t type;   ///< program::ElementType
  uint32_t flags;  ///< program::OperandFlags
  uint32_t map;    ///< number of its tensor map, or kNoMap
};

/// Logical page `lid` in a word of eight four-bit page numbers.
MK_DEVICE uint32_t mapped_page(uint32_t map, uint32_t lid) {
  return map >> (4 * lid) & 15;
}

template <class B>
struct Context {
  using Build = B;
  using Shared = Layout<B>;

  const LaunchParameters& launch;
  uint32_t base;  ///< shared-window address of the pages
  Role role;
  uint32_t warp;          ///< in the CTA
  uint32_t counts;        ///< word kWordCounts of the current instruction
  uint32_t epoch;         ///< controller: launches on this workspace before this one
  uint32_t iteration;     ///< instructions that this CTA has begun before this one
  uint32_t ring;          ///< ring stages that instructions before this one used
  uint32_t tiles;         ///< output tiles that instructions before this one handed to the storer
  uint32_t accumulators;  ///< tiles that instructions before this one computed in tensor memory
  uint32_t meetings;      ///< consumers: how often all of their warps have met
  uint32_t products;      ///< launcher: stages whose products it committed
  bool aborted;           ///< waits return at once; copies, stores and arrivals are left out

  MK_DEVICE uint32_t slot() const { return iteration % B::kSlots; }
  MK_DEVICE uint32_t slot_address() const { return base + Shared::kSlots + slot() * Shared::kSlotBytes; }
  /// Word `w` of the current instruction.
  MK_DEVICE uint32_t word(uint32_t w) const { return shared_word(slot_address() + 4 * w); }
  MK_DEVICE int32_t index(uint32_t i) const { return static_cast<int32_t>(word(program::kWordIndex + i)); }
  MK_DEVICE uint32_t wait_count() const { return counts >> 8 & 0xff; }
  MK_DEVICE uint32_t arrival_count() const { return counts >> 16 & 0xff; }
  MK_DEVICE uint32_t guard(uint32_t wait) const {
    const uint32_t at = wait < 4 ? program::kWordGuards : program::kWordGuardsHigh - 1 + wait / 4;
    return word(at) >> (8 * (wait % 4)) & 0xff;
  }
  MK_DEVICE const TensorMap* map(uint32_t number) const {
    if (number < launch.call_maps) return reinterpret_cast<const TensorMap*>(&launch.map_of_call[number]);
    return static_cast<const TensorMap*>(launch.maps) + number;
  }

  /// Operand k's type, flags and map, in one word: 8, 8 and 16 bits.
  MK_DEVICE uint32_t operand_word(uint32_t k) const {
    return shared_word(slot_address() + Shared::kWindows + k * Shared::kWindowBytes + 20);
  }
  MK_DEVICE OperandWindow window(uint32_t k) const {
    const uint32_t at = slot_address() + Shared::kWindows + k * Shared::kWindowBytes;
    const Words<2> base = ptx::ld_shared_v2(at), rows = ptx::ld_shared_v2(at + 8), rest = ptx::ld_shared_v2(at + 16);
    auto wide = [](const Words<2>& words) {
      return uint64_t{lane_value<uint32_t>(words.w[1])} << 32 | lane_value<uint32_t>(words.w[0]);
    };
    const uint32_t word = lane_value<uint32_t>(rest.w[1]);
    return {.base = reinterpret_cast<char*>(wide(base)),
            .row_bytes = static_cast<int64_t>(wide(rows)),
            .column_bytes = static_cast<int32_t>(lane_value<uint32_t>(rest.w[0])),
            .type = word & 0xff,
            .flags = word >> 8 & 0xff,
            .map = word >> 16};
  }
  MK_DEVICE uint32_t code_count() const { return shared_word(slot_address() + Shared::kCodeCount); }
  MK_DEVICE uint32_t code(uint32_t at) const { return shared_word(slot_address() + Shared::kCode + 4 * at); }
  MK_DEVICE float code_constant(uint32_t at) const {
    return bit_cast<float>(shared_word(slot_address() + Shared::kConstants + 4 * at));
  }

  /// Physical pages of the logical ones, for mapped_page(): for roles that use them often and have registers.
  MK_DEVICE uint32_t page_map() const {
    static_assert(B::kPages <= 8);
    return shared_word(slot_address() + Shared::kPageMap);
  }
  /// Physical page of logical page `lid`, and its address. Read from the slot each time: registers are scarcer.
  MK_DEVICE uint32_t page(uint32_t lid) const { return mapped_page(page_map(), lid); }
  MK_DEVICE uint32_t page_address(uint32_t lid) const { return base + page(lid) * B::kPageBytes; }
};

/// Tells the emulator which instruction the role works on. `number()` is not called on the GPU.
template <class B, class F>
MK_DEVICE void annotate_instruction(const Context<B>& c, F&& number) {
#if !MK_ON_GPU
  annotate(role_name(c.role), number());
#endif
}

}  // namespace megakittens::device
