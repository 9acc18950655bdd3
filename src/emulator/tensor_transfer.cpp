// tcgen05.ld and .st: a warp moves words between its registers and its quarter of tensor memory (rows 19 to 21).
#include <fmt/format.h>

#include <algorithm>

#include "emulator/machine.hpp"
#include "emulator/tensor_memory.hpp"

namespace megakittens::emulator {
namespace {

using device::host::kLanes;

class TransferAgent final : public Agent {
 public:
  TransferAgent(Machine& machine, std::shared_ptr<TensorTransfer> transfer, std::uint32_t column, std::uint32_t seen)
      : issue_(machine), transfer_(std::move(transfer)), column_(column), seen_(seen) {}

  bool advance(Machine& machine) override {
    Warp& warp = *issue_.warp;
    TensorMemory& memory = *warp.cta->tensor_memory;
    const std::uint32_t quarter = warp.index % 4;
    const std::uint32_t columns = static_cast<std::uint32_t>(transfer_->data.size()) / kLanes;
    for (std::uint32_t c = 0; c < columns; c++) {
      for (std::uint32_t l = 0; l < kLanes; l++) {
        std::uint32_t& word = memory.word(32 * quarter + l, column_ + c);
        std::uint32_t& held = transfer_->data[c * kLanes + l];
        (transfer_->load ? held : word) = transfer_->load ? word : held;
      }
    }
    if (Checker* checker = machine.checker()) {
      Access access =
          issue_.access(transfer_->load ? Operation::kTensorLoad : Operation::kTensorStore, !transfer_->load,
                        issue_.cta(), component::kTensorLane + warp.index, transfer_->tick);
      access.own_seen = seen_;
      memory.access(*checker, quarter, column_, columns, access);
    }
    transfer_->done = true;
    machine.wake_all(warp.tensor_waiters);
    return false;
  }

 private:
  Issue issue_;
  std::shared_ptr<TensorTransfer> transfer_;
  std::uint32_t column_;
  std::uint32_t seen_;
};

std::shared_ptr<TensorTransfer> start(Machine& machine, std::uint32_t address, int columns, bool load,
                                      const std::uint32_t* data) {
  Warp& warp = machine.warp();
  const std::uint32_t column = address & 0xffff, lane = address >> 16;
  const std::uint32_t count = static_cast<std::uint32_t>(columns);
  const char* name = load ? "tcgen05.ld" : "tcgen05.st";
  if (lane != 32 * (warp.index % 4)) {
    machine.add_finding(Rule::kTensorMemoryMisuse, 10,
                        fmt::format("  {} of {} names lane {}; the warp may touch lanes {} to {}", name,
                                    machine.describe(warp), lane, 32 * (warp.index % 4), 32 * (warp.index % 4) + 31));
  }
  if (column + count > kTensorColumns || !warp.cta->tensor_memory->allocated(column, count)) {
    machine.add_finding(Rule::kTensorMemoryMisuse, 11,
                        fmt::format("  {} of {} touches columns {} to {}, which are not allocated", name,
                                    machine.describe(warp), column, column + count - 1));
    if (column + count > kTensorColumns) return nullptr;
  }
  auto transfer = std::make_shared<TensorTransfer>();
  transfer->tick = ++warp.tensor_issued;
  transfer->load = load;
  transfer->data.resize(std::size_t{count} * kLanes);
  if (data != nullptr) std::copy(data, data + transfer->data.size(), transfer->data.begin());
  warp.tensor_transfers.push_back(transfer);
  machine.start(std::make_unique<TransferAgent>(machine, transfer, column, warp.tensor_waited));
  return transfer;
}

void wait(bool load) {
  Machine& machine = Machine::current();
  Warp& warp = machine.warp();
  if (machine.fault(FaultPoint::kTcgenWait)) return;
  auto& transfers = warp.tensor_transfers;
  auto pending = [&] {
    return std::any_of(transfers.begin(), transfers.end(), [&](const auto& t) { return t->load == load && !t->done; });
  };
  while (pending()) {
    warp.tensor_waiters.push_back(machine.waiter());
    machine.park({WaitKind::kTensorMemory, nullptr, 0, 0});
  }
  for (const auto& transfer : transfers) {
    if (transfer->load && load) std::copy(transfer->data.begin(), transfer->data.end(), transfer->registers);
  }
  std::erase_if(transfers, [&](const auto& t) { return t->load == load; });
  // Waited for: everything before the oldest transfer of the other kind that is still out.
  warp.tensor_waited = transfers.empty() ? warp.tensor_issued : transfers.front()->tick - 1;
  machine.step();
}

}  // namespace
}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void tensor_load(std::uint32_t* values, int columns, std::uint32_t address) {
  Machine& machine = Machine::current();
  std::fill(values, values + columns * static_cast<int>(kLanes), kRegisterPoison);
  auto transfer = start(machine, address, columns, true, nullptr);
  if (transfer != nullptr) transfer->registers = values;
  machine.step();
}

void tensor_store(const std::uint32_t* values, int columns, std::uint32_t address) {
  Machine& machine = Machine::current();
  start(machine, address, columns, false, values);
  machine.step();
}

void tensor_wait_loads() {
  wait(true);
}
void tensor_wait_stores() {
  wait(false);
}

void tensor_fence(bool after) {
  Machine& machine = Machine::current();
  if (machine.fault(after ? FaultPoint::kTcgenFenceAfter : FaultPoint::kTcgenFenceBefore)) return;
  Warp& warp = machine.warp();
  if (Checker* checker = machine.checker()) {
    if (after) {
      checker->fence_tensor_after(warp);
    } else {
      warp.view.local.raise(component::kTensorLane + warp.index, warp.tensor_waited);
    }
  }
  machine.step();
}

}  // namespace megakittens::device::host
