// What the controller keeps of the node whose instructions it is publishing: operands in lanes 0 to 15, byte code and
// constants in all. Loaded once a node, resolved for each instruction, and written to the slot, so that no other role
// reads node records while it works.
#pragma once

#include "device/vocabulary/context.cuh"

namespace megakittens::interpreter {

using device::Context;
using device::Lanes;
using device::Layout;
using device::Words;

using program::kNoNode;
inline constexpr uint32_t kCodeWordsPerLane = program::kMaxCode / device::kWarpLanes;

struct NodeRegisters {
  uint32_t node;
  uint32_t operands;
  uint32_t code_count;
  Lanes<uint64_t> base;       ///< of element (0, 0, 0, 0)
  Lanes<int64_t> strides[4];  ///< bytes
  Lanes<uint32_t> word;       ///< type, flags, map
  Lanes<uint32_t> code[kCodeWordsPerLane];
  Lanes<uint32_t> constant;
};

MK_DEVICE Lanes<int64_t> wide(const Words<4>& words, uint32_t first) {
  return device::bit_cast<int64_t>(device::convert<uint64_t>(words.w[first + 1]) << 32 |
                                   device::convert<uint64_t>(words.w[first]));
}

/// Sizes of bf16, f16, f32, i64, i32, bool, four bits each.
MK_DEVICE Lanes<int64_t> type_size(Lanes<uint32_t> type) {
  return device::convert<int64_t>((Lanes<uint32_t>(0x148422u) >> (type * 4)) & 15u);
}

/// A node's operand records as they come from memory.
struct NodeWords {
  Words<4> head;
  Words<4> outer;
  Words<4> inner;
};

/// Asks for a node's record: the first of two trips to memory. Waits for nothing.
template <class B>
MK_DEVICE void request_node(const Context<B>& c, uint32_t node, NodeRegisters& r, NodeWords& words) {
  const program::NodeRecord* record = c.launch.records + node;
  const Lanes<uint32_t> lane = device::lane_index();
  r.node = node;
  const Lanes<bool> exists = lane < uint32_t{program::kMaxOperands};
  const Lanes<uint64_t> at = device::convert<uint64_t>(lane * uint32_t{sizeof(program::OperandRecord)});
  words.head = ptx::ld_global_v4(record->operands, at, exists, Words<4>{});
  words.outer = ptx::ld_global_v4(record->operands, at + uint64_t{16}, exists, Words<4>{});
  words.inner = ptx::ld_global_v4(record->operands, at + uint64_t{32}, exists, Words<4>{});
  MK_UNROLL for (uint32_t i = 0; i < kCodeWordsPerLane; ++i) r.code[i] =
      ptx::ld_global_u32(record->code, device::convert<uint64_t>(lane * 4 + i * 4 * device::kWarpLanes));
  r.constant = ptx::ld_global_u32(record->constants, device::convert<uint64_t>(lane * 4),
                                  lane < uint32_t{program::kMaxConstants}, 0u);
  r.operands = device::constant(&record->operand_count);
  r.code_count = device::constant(&record->code_count);
}

/// The second: the storages' addresses. Unused operands of a record are zeros.
template <class B>
MK_DEVICE void resolve_node(const Context<B>& c, const NodeWords& words, NodeRegisters& r) {
  const Words<4>& head = words.head;
  const Lanes<bool> used = device::lane_index() < r.operands;
  const Lanes<bool> of_call = head.w[0] < c.launch.call_storages;
  const Lanes<uint64_t> bound =
      ptx::ld_global_u64(static_cast<const void*>(c.launch.storages), device::convert<uint64_t>(head.w[0]) * 8,
                         used && !of_call, uint64_t{0});
  const Lanes<uint64_t> storage =
      device::select(of_call, device::look_up(c.launch.storage_of_call, device::select(of_call, head.w[0], 0u)), bound);
  // The record has the map in the lower half of its second word, then type and flags.
  r.word = head.w[1] << 16 | head.w[1] >> 16;
  const Lanes<uint32_t> map = r.word >> 16;
  const Lanes<bool> bulk = used && map != uint32_t{program::kNoMap}, map_of_call = map < c.launch.call_maps;
  ptx::prefetch_tensormap(reinterpret_cast<const device::TensorMap*>(c.launch.map_of_call), map, bulk && map_of_call);
  // Rows 17 and 18: maps among the parameters need no fence. The slot's barrier hands the others on to the roles.
  const auto* maps = static_cast<const device::TensorMap*>(c.launch.maps);
  ptx::fence_proxy_tensormap_acquire_sys(maps, map, bulk && !map_of_call);
  ptx::prefetch_tensormap(maps, map, bulk && !map_of_call);
  const Lanes<int64_t> size = type_size(r.word & 0xffu);
  r.base = storage + device::convert<uint64_t>(wide(head, 2) * size);
  r.strides[0] = wide(words.outer, 0) * size;
  r.strides[1] = wide(words.outer, 2) * size;
  r.strides[2] = wide(words.inner, 0) * size;
  r.strides[3] = wide(words.inner, 2) * size;
}

template <class B>
MK_DEVICE void load_node(const Context<B>& c, uint32_t node, NodeRegisters& r) {
  NodeWords words;
  request_node(c, node, r, words);
  resolve_node(c, words, r);
}

/// Writes the operands' windows for the position (outer0, outer1), and the code where the slot does not hold it yet.
template <class B>
MK_DEVICE void write_node(const Context<B>& c, const NodeRegisters& r, int32_t outer0, int32_t outer1, bool with_code) {
  using S = Layout<B>;
  const Lanes<uint32_t> lane = device::lane_index();
  const uint32_t slot = c.slot_address();
  const Lanes<bool> used = lane < r.operands;
  const Lanes<uint64_t> base =
      r.base + device::convert<uint64_t>(r.strides[0] * int64_t{outer0} + r.strides[1] * int64_t{outer1});
  const Lanes<uint32_t> at = lane * S::kWindowBytes + (slot + S::kWindows);
  auto halves = [](Lanes<uint64_t> value) {
    return Words<2>{{device::convert<uint32_t>(value), device::convert<uint32_t>(value >> 32)}};
  };
  ptx::st_shared_v2(at, halves(base), used);
  ptx::st_shared_v2(at + 8, halves(device::bit_cast<uint64_t>(r.strides[2])), used);
  ptx::st_shared_v2(at + 16, Words<2>{{device::convert<uint32_t>(device::bit_cast<uint64_t>(r.strides[3])), r.word}},
                    used);
  if (!with_code) return;
  MK_UNROLL for (uint32_t i = 0; i < kCodeWordsPerLane; ++i)
      ptx::st_shared_u32(lane * 4 + (slot + S::kCode + i * 4 * device::kWarpLanes), r.code[i]);
  ptx::st_shared_u32(lane * 4 + (slot + S::kConstants), r.constant, lane < uint32_t{program::kMaxConstants});
  device::one_lane([&] { ptx::st_shared_u32(slot + S::kCodeCount, Lanes<uint32_t>(r.code_count)); });
}

static_assert(program::kMaxCode % device::kWarpLanes == 0);

}  // namespace megakittens::interpreter
