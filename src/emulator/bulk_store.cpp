// Bulk stores and reductions: shared to global memory, in groups of the issuing warp (rows 7 and 8).
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "device/core/float16.cuh"
#include "device/host/hooks.hpp"
#include "emulator/async_access.hpp"
#include "emulator/bulk_operands.hpp"
#include "emulator/shared_memory.hpp"

namespace megakittens::emulator {
namespace {

using device::TensorMapType;
using device::host::Reduction;

template <class T, class Add>
void add_as(std::byte* to, const std::byte* from, std::uint32_t bytes, Add add) {
  for (std::uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    a = add(a, b);
    std::memcpy(to + i, &a, sizeof(T));
  }
}

// to[i] += from[i] for elements of `type`, rounded to it; `bytes` of them.
void add_into(device::TensorMapType type, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  auto plain = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  switch (type) {
    case TensorMapType::kF32:
      return add_as<float>(to, from, bytes, plain);
    case TensorMapType::kF64:
      return add_as<double>(to, from, bytes, plain);
    case TensorMapType::kBf16:
      return add_as<device::Bf16>(to, from, bytes, [](device::Bf16 a, device::Bf16 b) {
        return device::to_bf16(device::to_float(a) + device::to_float(b));
      });
    case TensorMapType::kF16:
      return add_as<device::F16>(to, from, bytes, [](device::F16 a, device::F16 b) {
        return device::to_f16(device::to_float(a) + device::to_float(b));
      });
    case TensorMapType::kU64:
    case TensorMapType::kI64:
      return add_as<std::uint64_t>(to, from, bytes, plain);
    case TensorMapType::kU16:
      return add_as<std::uint16_t>(to, from, bytes, plain);
    case TensorMapType::kU8:
      return add_as<std::uint8_t>(to, from, bytes, plain);
    default:
      return add_as<std::uint32_t>(to, from, bytes, plain);
  }
}

class BulkStoreAgent final : public Agent {
 public:
  explicit BulkStoreAgent(Machine& machine) : issue(machine), group(machine.warp().bulk.open()) {}

  // First the source is read, then, at another moment, the destination is written.
  bool advance(Machine& machine) override {
    Warp& warp = *issue.warp;
    const bool reads = data_.empty();
    if (reads) {
      read(machine);
      warp.bulk.group(group).unread--;
      warp.cta->async_in_flight--;
    } else {
      write(machine);
      warp.bulk.group(group).incomplete--;
    }
    warp.bulk.settle();
    machine.wake_all(warp.bulk_waiters);
    return reads;
  }

  Issue issue;
  std::uint32_t group;
  std::uint32_t source = 0;  // offset in the CTA's shared memory
  std::uint64_t destination = 0;
  std::uint32_t bytes = 0;
  std::optional<TensorBox> box;
  Reduction reduction = Reduction::kNone;
  TensorMapType element = TensorMapType::kU8;

 private:
  Operation operation() const { return reduction == Reduction::kNone ? Operation::kBulkStore : Operation::kBulkReduce; }

  void read(Machine& machine) {
    const Cta& cta = *issue.warp->cta;
    data_.resize(bytes);
    const device::Swizzle swizzle = box ? box->map.swizzle : device::Swizzle::kNone;
    for (std::uint32_t i = 0; i < bytes; i += 16) {
      std::memcpy(data_.data() + i, cta.shared + device::swizzle_address(swizzle, source + i), 16);
    }
    if (Checker* checker = machine.checker()) {
      checker->access(*cta.shared_region, source, bytes,
                      issue.access(operation(), false, issue.cta(), component::kBulkRead + issue.warp->index, group));
    }
  }

  void write(Machine& machine) {
    if (!box) {
      write_run(machine, destination, data_.data(), bytes);
      return;
    }
    for (std::uint32_t r = 0, n = box->rows(); r < n; r++) {
      const TensorBox::Row row = box->written_row(r);
      if (row.length > 0) write_run(machine, row.address, data_.data() + r * box->row_bytes() + row.skip, row.length);
    }
  }

  void write_run(Machine& machine, std::uint64_t address, const std::byte* from, std::uint32_t length) {
    GlobalMemory::Buffer* buffer = machine.global().find(address, length);
    if (buffer == nullptr || buffer->region->read_only) {
      machine.add_finding(
          Rule::kOutOfBounds, 300 + issue.warp->index,
          fmt::format("  bulk store of {} writes {} bytes at {}{}", machine.describe(*issue.warp), length,
                      machine.global().place(address), buffer != nullptr ? ", which is read-only" : ""));
      return;
    }
    std::byte* to = reinterpret_cast<std::byte*>(address);
    if (reduction == Reduction::kNone) {
      std::memcpy(to, from, length);
    } else {
      add_into(element, to, from, length);
    }
    if (Checker* checker = machine.checker()) {
      checker->access(*buffer->region, address - buffer->base, length,
                      issue.access(operation(), true, issue.cta(), component::kBulkFull + issue.warp->index, group));
    }
    machine.written(address, length);
  }

  std::vector<std::byte> data_;
};

void launch(Machine& machine, std::unique_ptr<BulkStoreAgent> agent, std::uint32_t source) {
  SharedPlace from = resolve_shared(machine, source, agent->bytes, "bulk store");
  if (!from) return;
  if (from.cta != &machine.cta()) {
    bad_operand(machine, "bulk store", "the source lies in another CTA");
    return;
  }
  agent->source = from.offset;
  BulkGroups::Pending& group = machine.warp().bulk.group(agent->group);
  group.unread++;
  group.incomplete++;
  from.cta->async_in_flight++;
  machine.start(std::move(agent));
  machine.step();
}

}  // namespace
}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void bulk_store(void* destination, std::uint32_t source, std::uint32_t bytes, Reduction reduction) {
  Machine& machine = Machine::current();
  auto agent = std::make_unique<BulkStoreAgent>(machine);
  agent->destination = reinterpret_cast<std::uintptr_t>(destination);
  agent->bytes = bytes;
  agent->reduction = reduction;
  agent->element = reduction == Reduction::kAddBf16 ? TensorMapType::kBf16 : TensorMapType::kF32;
  if (check_bulk_operands(machine, "bulk store", agent->destination, source, bytes))
    launch(machine, std::move(agent), source);
}

void bulk_store_tensor(const void* map, const std::int32_t* at, int rank, std::uint32_t source, Reduction reduction) {
  Machine& machine = Machine::current();
  auto agent = std::make_unique<BulkStoreAgent>(machine);
  agent->box = box_operand(machine, map, at, rank);
  if (!agent->box || !check_box_address(machine, source)) return;
  // An illegal instruction on an H200, where loads take it.
  for (int d = 0; d < rank; d++)
    if (at[d] < 0) return bad_operand(machine, "bulk tensor store", "a coordinate is negative");
  agent->bytes = agent->box->bytes();
  agent->reduction = reduction;
  agent->element = agent->box->map.type;
  launch(machine, std::move(agent), source);
}

void bulk_commit() {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kBulkCommit)) return;
  BulkGroups& bulk = machine.warp().bulk;
  bulk.group(bulk.open());
  bulk.committed++;
  bulk.settle();
  machine.step();
}

void bulk_wait(std::uint32_t in_flight, bool read_only) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (read_only && machine.fault(FaultPoint::kBulkWaitGroupRead)) return;
  if (!read_only && machine.fault(FaultPoint::kBulkWaitGroup)) read_only = true;
  BulkGroups& bulk = warp.bulk;
  const std::uint32_t through = bulk.committed > in_flight ? bulk.committed - in_flight : 0;
  while ((read_only ? bulk.read_through : bulk.complete_through) < through) {
    warp.bulk_waiters.push_back(machine.waiter());
    machine.park({WaitKind::kBulkGroups, nullptr, in_flight, read_only});
  }
  if (machine.checker() != nullptr) {
    warp.view.local.raise(component::kBulkRead + warp.index, through);
    if (!read_only) warp.view.local.raise(component::kBulkFull + warp.index, through);
  }
  machine.step();
}

}  // namespace megakittens::device::host
