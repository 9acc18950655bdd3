// One access (or a run of accesses that nothing separates): who, with which kind of operation, at which tick.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

enum class Operation : std::uint8_t {
  kLoad,  // ordinary loads and stores: generic proxy
  kStore,
  kAtomic,        // strong operations: atom, red, ld/st relaxed, acquire, release
  kConstantLoad,  // ld.global.nc: the kernel must never write these bytes
  kBulkLoad,      // async proxy from here on
  kBulkStore,
  kBulkReduce,
  kWgmma,
  kTcgenMma,
  kTcgenCopy,
  kTensorLoad,  // tcgen05.ld and .st: tensor memory only
  kTensorStore,
};

constexpr bool is_async(Operation operation) {
  return operation >= Operation::kBulkLoad;
}
const char* name_of(Operation operation);

struct Record {
  std::uint16_t cta;        // whose clock `component` belongs to
  std::uint16_t component;  // see clock.hpp
  std::uint32_t tick;
  std::uint32_t context;  // who issued it: CTA, warp, role, instruction (see Context)
  Operation operation;
};

/// The issuer of an access in words a report can use.
struct Context {
  std::uint16_t cta;
  std::uint16_t warp;
  const char* role;          // static text from annotate(), or null
  std::int64_t instruction;  // -1 where not annotated
};

}  // namespace megakittens::emulator
