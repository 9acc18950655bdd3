// What a launch passes to the interpreter, and what the interpreter leaves behind when it gives up. Host and device.
#pragma once

#include "program/instruction.hpp"
#include "program/node_record.hpp"

namespace megakittens::program {

/// Counters lie this many words apart: one in a 32-byte sector.
inline constexpr uint32_t kCounterStride = 8;

enum class Role : uint32_t { controller, loader, follower, launcher, storer, consumer };
enum class WaitKind : uint32_t {
  none,
  slot_free,    ///< controller: the slot's last instruction has been finished by every role
  slot_ready,   ///< a role: the next instruction has been published
  page_free,    ///< a page's token
  stage_free,   ///< a ring stage has been consumed
  stage_full,   ///< a ring stage has been filled
  tile_done,    ///< consumers finished an output tile in shared memory
  writable,     ///< the instruction's first write may happen
  written,      ///< every consumer has stored its part
  accumulator,  ///< tensor memory is free, or full
  consumers,    ///< the other consumer warps
  counter,      ///< global counter `what` reaches `target`
  busy,         ///< the workspace belongs to a launch that has not ended
};

/// The first wait that expired in a launch. Written once, by whoever raises `Control::abort`.
struct AbortRecord {
  uint32_t claimed;
  uint32_t cta;
  uint32_t sm;
  uint32_t role;  ///< Role
  uint32_t warp;
  uint32_t instruction;  ///< Instruction::number
  uint32_t node;         ///< Instruction::node
  uint32_t kind;         ///< WaitKind
  uint32_t what;         ///< counter, page, or stage number
  uint32_t value;        ///< the counter's value when the wait expired
  uint32_t target;
  uint32_t filler[2];  ///< by the launch's number, even or odd: 1 where a CTA has taken its outputs on, to fill them
  uint32_t reserved[3];
};
static_assert(sizeof(AbortRecord) == 64);

/// Words shared by all launches on one workspace; zeroed when it is made and after an abort, never in between: all of
/// them, and what is compared with them, count modulo 2^32.
struct Control {
  alignas(128) uint32_t ticket;    ///< kTickets a launch, whose CTA 0 takes those that others leave
  alignas(128) uint32_t launches;  ///< whose CTA 0 has entered
  alignas(128) uint32_t left;      ///< CTAs that left
  alignas(128) uint32_t head;      ///< global queue: positions taken
  alignas(128) uint32_t abort;     ///< sticky
  alignas(128) AbortRecord record;
};
static_assert(sizeof(Control) == 6 * 128);

/// A launch takes so many tickets, more than it has CTAs: its number's lower bits are those of its tickets above these.
inline constexpr uint32_t kTicketBits = 16;
inline constexpr uint32_t kTickets = 1u << kTicketBits;

/// How many storages and tensor maps of a launch travel in its parameters.
inline constexpr uint32_t kMaxCallStorages = 32;
inline constexpr uint32_t kMaxCallMaps = 16;

/// The device's words of a tensor map (device::TensorMap), as a parameter.
struct alignas(64) CallMap {
  uint64_t words[16];
};

/// What may change from call to call lies in the parameters themselves, because launches in flight read the tables in
/// global memory: storages numbered below `call_storages` and maps below `call_maps`.
struct LaunchParameters {
  const Instruction* instructions;
  const NodeRecord* records;
  const void* maps;       ///< device::TensorMap objects, 64-byte aligned; from number `call_maps` on
  void* const* storages;  ///< base address of every storage; from number `call_storages` on
  uint32_t* counters;     ///< kCounterStride words each
  Control* control;
  uint64_t wait_limit;  ///< clocks that a wait for a counter may take; others take twice as long
  uint32_t instruction_count;
  uint32_t global_queue;      ///< 0: instruction i runs on CTA i % grid; 1: CTAs take instructions by ticket
  uint32_t* alarm = nullptr;  ///< raised with Control::abort where it is not null: a word that the host sees
  /// A launch that gives up, or finds Control::abort raised, sets every bit of these: NaN in all floating types, -1 in
  /// integers.
  const OutputRecord* outputs = nullptr;
  uint32_t output_count = 0;
  uint32_t call_storages = 0;
  uint32_t call_maps = 0;
  uint32_t first_node = kNoNode;                    ///< whose record CTAs fetch beside their first instruction; a hint
  uint64_t storage_of_call[kMaxCallStorages] = {};  ///< base addresses
  CallMap map_of_call[kMaxCallMaps] = {};
};
static_assert(sizeof(LaunchParameters) <= 4096, "more needs a newer driver, and costs time at each launch");

}  // namespace megakittens::program
