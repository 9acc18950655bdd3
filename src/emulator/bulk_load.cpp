// Bulk loads: global (or a CTA's shared) memory into shared memory of one or several CTAs, counted on mbarriers (row
// 1).
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "device/host/hooks.hpp"
#include "emulator/async_access.hpp"
#include "emulator/bulk_operands.hpp"
#include "emulator/shared_memory.hpp"

namespace megakittens::emulator {
namespace {

struct Destination {
  Cta* cta;
  std::uint32_t offset;
  Cta* barrier_cta;
  std::uint32_t barrier_offset;
};

class BulkLoadAgent final : public Agent {
 public:
  explicit BulkLoadAgent(Machine& machine) : issue(machine) {}

  // One destination a step: the CTAs of a multicast get their data at different moments.
  bool advance(Machine& machine) override {
    const Destination to = destinations.back();
    destinations.pop_back();
    deliver(machine, to);
    to.cta->async_in_flight--;
    if (destinations.empty() && source_cta != nullptr) source_cta->async_in_flight--;
    return !destinations.empty();
  }

  Issue issue;
  std::vector<Destination> destinations;
  std::uint64_t source = 0;  // global address, or offset in source_cta's shared memory; unused with a box
  Cta* source_cta = nullptr;
  std::uint32_t bytes = 0;
  std::optional<TensorBox> box;

 private:
  void deliver(Machine& machine, const Destination& to) {
    if (to.cta->running == 0) return;  // reported when the CTA ended
    Mbarrier* barrier =
        find_barrier(machine, *to.barrier_cta, to.barrier_offset, "complete_tx of a bulk load", *issue.warp);
    if (barrier == nullptr) return;
    const std::uint16_t owner = static_cast<std::uint16_t>(barrier->cta->index);
    const Access read = issue.access(Operation::kBulkLoad, false, owner, barrier->component, current_tick(*barrier));
    const Access write = issue.access(Operation::kBulkLoad, true, owner, barrier->component, current_tick(*barrier));
    if (box) {
      copy_box(machine, to, read);
    } else {
      copy_line(machine, to, read);
    }
    if (Checker* checker = machine.checker()) checker->access(*to.cta->shared_region, to.offset, bytes, write);
    complete_transaction(machine, *barrier, bytes, *issue.warp);
  }

  void copy_line(Machine& machine, const Destination& to, const Access& read) {
    if (source_cta != nullptr) {
      std::memmove(to.cta->shared + to.offset, source_cta->shared + source, bytes);
      if (Checker* checker = machine.checker()) checker->access(*source_cta->shared_region, source, bytes, read);
      return;
    }
    copy_global(machine, to.cta->shared + to.offset, source, bytes, read);
  }

  void copy_box(Machine& machine, const Destination& to, const Access& read) {
    fill_outside(to);
    const device::Swizzle swizzle = box->map.swizzle;
    for (std::uint32_t r = 0, n = box->rows(); r < n; r++) {
      const TensorBox::Row row = box->row(r);
      if (row.length == 0) continue;
      const std::uint32_t begin = to.offset + r * box->row_bytes() + row.skip;
      if (swizzle == device::Swizzle::kNone) {
        copy_global(machine, to.cta->shared + begin, row.address, row.length, read);
        continue;
      }
      std::byte line[256 * 8];
      if (!copy_global(machine, line, row.address, row.length, read)) continue;
      for (std::uint32_t done = 0; done < row.length;) {  // chunks of 16 bytes move as one
        const std::uint32_t chunk = std::min(16 - (begin + done) % 16, row.length - done);
        std::memcpy(to.cta->shared + device::swizzle_address(swizzle, begin + done), line + done, chunk);
        done += chunk;
      }
    }
  }

  void fill_outside(const Destination& to) {
    std::byte* out = to.cta->shared + to.offset;
    if (box->map.fill == device::OutOfBoundsFill::kZero) {
      std::memset(out, 0, bytes);
    } else {
      std::memset(out, 0xff, bytes);  // a NaN in every floating type
    }
  }

  bool copy_global(Machine& machine, std::byte* out, std::uint64_t address, std::uint32_t length, const Access& read) {
    GlobalMemory::Buffer* buffer = machine.global().find(address, length);
    if (buffer == nullptr) {
      machine.add_finding(Rule::kOutOfBounds, 200 + issue.warp->index,
                          fmt::format("  bulk load of {} reads {} bytes at {}", machine.describe(*issue.warp), length,
                                      machine.global().place(address)));
      return false;
    }
    std::memcpy(out, reinterpret_cast<const void*>(address), length);
    if (Checker* checker = machine.checker()) checker->access(*buffer->region, address - buffer->base, length, read);
    return true;
  }
};

bool add_destination(Machine& machine, BulkLoadAgent& agent, std::uint32_t destination, std::uint32_t barrier) {
  SharedPlace to = resolve_shared(machine, destination, agent.bytes, "bulk load");
  SharedPlace signal = resolve_shared(machine, barrier, 8, "bulk load's mbarrier");
  if (!to || !signal) return false;
  agent.destinations.push_back({to.cta, to.offset, signal.cta, signal.offset});
  return true;
}

void launch(Machine& machine, std::unique_ptr<BulkLoadAgent> agent, const device::host::BulkLoad& load) {
  if (load.cta_mask == 0) {
    const bool same = load.destination >> kRankShift == load.barrier >> kRankShift;
    if (!same && !load.pair) bad_operand(machine, "bulk load", "its mbarrier lies in another CTA than its destination");
    if (!add_destination(machine, *agent, load.destination, load.barrier)) return;
  }
  for (std::uint32_t rank = 0; rank < 16; rank++) {
    if ((load.cta_mask >> rank & 1) == 0) continue;
    if (!add_destination(machine, *agent, device::host::map_address(load.destination, rank),
                         device::host::map_address(load.barrier, rank))) {
      return;
    }
  }
  for (const Destination& to : agent->destinations) to.cta->async_in_flight++;
  if (agent->source_cta != nullptr) agent->source_cta->async_in_flight++;
  machine.start(std::move(agent));
  machine.step();
}

}  // namespace
}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void bulk_load(const BulkLoad& load, const void* source, std::uint32_t bytes) {
  Machine& machine = Machine::current();
  auto agent = std::make_unique<BulkLoadAgent>(machine);
  agent->source = reinterpret_cast<std::uintptr_t>(source);
  agent->bytes = bytes;
  if (!check_bulk_operands(machine, "bulk load", agent->source, load.destination, bytes)) return;
  launch(machine, std::move(agent), load);
}

void bulk_copy_to_cluster(std::uint32_t destination, std::uint32_t source, std::uint32_t bytes, std::uint32_t barrier) {
  Machine& machine = Machine::current();
  auto agent = std::make_unique<BulkLoadAgent>(machine);
  SharedPlace from = resolve_shared(machine, source, bytes, "bulk copy");
  if (!from || !check_bulk_operands(machine, "bulk copy", source, destination, bytes)) return;
  agent->source = from.offset;
  agent->source_cta = from.cta;
  agent->bytes = bytes;
  launch(machine, std::move(agent), {destination, barrier});
}

void bulk_load_tensor(const BulkLoad& load, const void* map, const std::int32_t* at, int rank) {
  Machine& machine = Machine::current();
  auto agent = std::make_unique<BulkLoadAgent>(machine);
  agent->box = box_operand(machine, map, at, rank);
  if (!agent->box || !check_box_address(machine, load.destination)) return;
  agent->bytes = agent->box->bytes();
  launch(machine, std::move(agent), load);
}

}  // namespace megakittens::device::host
