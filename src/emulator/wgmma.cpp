#include "emulator/wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "device/arch/sm90/descriptor.cuh"
#include "emulator/matrix_operand.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kRows = 64, kDepth = 16, kLanes = device::host::kLanes;
const float kPoison = std::bit_cast<float>(kRegisterPoison);

class QueueAgent final : public Agent {
 public:
  explicit QueueAgent(WgmmaQueue& queue) : queue_(queue) {}
  bool advance(Machine& machine) override { return queue_.advance(machine); }

 private:
  WgmmaQueue& queue_;
};

// Row and column of register r of lane l in quarter q of the accumulator.
constexpr std::uint32_t row_of(std::uint32_t q, std::uint32_t l, std::uint32_t r) {
  return 16 * q + l / 4 + 8 * (r / 2 % 2);
}
constexpr std::uint32_t column_of(std::uint32_t l, std::uint32_t r) {
  return 8 * (r / 4) + 2 * (l % 4) + r % 2;
}

MatrixOperand operand(std::uint64_t word, bool k_major, device::host::Half type) {
  const sm90::MatrixDescriptor d = sm90::decode(word);
  return {d.address, d.leading_offset, d.stride_offset, d.swizzle, k_major, type};
}

}  // namespace

WgmmaQueue::Accumulator& WgmmaQueue::accumulator_of(Warp& warp, Product& product,
                                                    const device::host::WgmmaOperands& operands) {
  const std::uint32_t quarter = warp.index % kWarps;
  if (product.accumulator == nullptr) {
    auto found = std::find_if(accumulators_.begin(), accumulators_.end(),
                              [&](const Accumulator& a) { return a.registers[quarter] == operands.d; });
    if (found == accumulators_.end()) {
      accumulators_.emplace_back();
      found = std::prev(accumulators_.end());
      found->n = static_cast<std::uint32_t>(operands.n);
      found->values.resize(std::size_t{kRows} * found->n);
    }
    product.accumulator = &*found;
  }
  Accumulator& accumulator = *product.accumulator;
  if (accumulator.registers[quarter] == nullptr) {
    accumulator.registers[quarter] = operands.d;
    warp.accumulators_in_flight++;
    load_registers(accumulator, quarter, operands.accumulate);
  }
  return accumulator;
}

void WgmmaQueue::load_registers(Accumulator& accumulator, std::uint32_t quarter, bool keep) {
  float* d = accumulator.registers[quarter];
  for (std::uint32_t r = 0; r < accumulator.n / 2; r++) {
    for (std::uint32_t l = 0; l < kLanes; l++) {
      if (keep) accumulator.values[row_of(quarter, l, r) * accumulator.n + column_of(l, r)] = d[r * kLanes + l];
      d[r * kLanes + l] = kPoison;
    }
  }
}

void WgmmaQueue::issue(Machine& machine, const device::host::WgmmaOperands& operands) {
  Warp& warp = machine.warp();
  const std::uint32_t quarter = warp.index % kWarps;
  if (!warp.wgmma_fenced) {
    machine.add_finding(
        Rule::kAccumulatorInFlight, 1,
        fmt::format("  wgmma of {} without wgmma.fence since its registers were last free", machine.describe(warp)));
  }
  const std::uint32_t number = issued_[quarter]++;
  while (first_ + products_.size() <= number) products_.emplace_back();
  Product& product = products_[number - first_];
  const bool first = product.arrived == 0;
  if (first) {
    product.operands = operands;
    product.group = warp.wgmma_committed + 1;
    product.issuer = &warp;
    product.context = warp.context;
    product.view = warp.view;
    if (unfinished_.size() < product.group - complete_through_)
      unfinished_.resize(product.group - complete_through_, 0);
    unfinished_[product.group - complete_through_ - 1]++;
    machine.report().async_operations++;
  }
  const auto& common = product.operands;
  if (common.n != operands.n || common.descriptor_b != operands.descriptor_b ||
      common.descriptor_a != operands.descriptor_a || common.type != operands.type ||
      common.m_major_a != operands.m_major_a || common.n_major_b != operands.n_major_b ||
      common.accumulate != operands.accumulate ||
      (common.registers_a != nullptr) != (operands.registers_a != nullptr)) {
    machine.add_finding(
        Rule::kBadOperand, 11,
        fmt::format("  {} issues another wgmma than the first warp of its warpgroup", machine.describe(warp)));
  }
  if (!first && machine.checker() != nullptr) product.view.meet(warp.view);
  Accumulator& accumulator = accumulator_of(warp, product, operands);
  accumulator.last_group = std::max(accumulator.last_group, product.group);
  if (accumulator.registers[quarter] != operands.d || accumulator.n != static_cast<std::uint32_t>(operands.n)) {
    machine.add_finding(Rule::kAccumulatorInFlight, 2,
                        fmt::format("  {} mixes accumulators that are in flight", machine.describe(warp)));
  }
  if (operands.registers_a != nullptr) {
    product.registers_a.resize(kDepth * kRows);
    for (std::uint32_t r = 0; r < 4; r++) {
      for (std::uint32_t l = 0; l < kLanes; l++) {
        const std::uint32_t word = operands.registers_a[r * kLanes + l];
        const std::uint32_t row = 16 * quarter + l / 4 + 8 * (r % 2), k = 2 * (l % 4) + 8 * (r / 2);
        product.registers_a[k * kRows + row] = half_to_float(operands.type, static_cast<std::uint16_t>(word));
        product.registers_a[(k + 1) * kRows + row] =
            half_to_float(operands.type, static_cast<std::uint16_t>(word >> 16));
      }
    }
  }
  product.arrived++;
  if (!running_ && products_.front().arrived == kWarps) {
    running_ = true;
    machine.start(std::make_unique<QueueAgent>(*this));
  }
  machine.step();
}

void WgmmaQueue::run(Machine& machine, Product& product) {
  const device::host::WgmmaOperands& o = product.operands;
  const std::uint32_t n = static_cast<std::uint32_t>(o.n);
  const std::uint16_t cta = static_cast<std::uint16_t>(cta_.index);
  const Access access{&product.view,
                      cta,
                      {cta, static_cast<std::uint16_t>(component::kWgmma + warpgroup_), product.group, product.context,
                       Operation::kWgmma},
                      false};
  const bool compute = machine.config().arithmetic;
  alignas(64) float a[kDepth * kRows];
  alignas(64) float b[kDepth * 256];
  const float* left = a;
  if (o.registers_a != nullptr) {
    left = product.registers_a.data();
  } else {
    read_operand(machine, cta_, operand(o.descriptor_a, !o.m_major_a, o.type), kRows, a, kRows, access, *product.issuer,
                 compute);
  }
  read_operand(machine, cta_, operand(o.descriptor_b, !o.n_major_b, o.type), n, b, n, access, *product.issuer, compute);
  std::vector<float>& values = product.accumulator->values;
  if (!o.accumulate) std::fill(values.begin(), values.end(), 0.0f);
  if (compute) multiply_add(values.data(), left, b, kRows, n);
}

bool WgmmaQueue::advance(Machine& machine) {
  Product product = std::move(products_.front());
  products_.pop_front();
  first_++;
  run(machine, product);
  unfinished_[product.group - complete_through_ - 1]--;
  settle(machine);
  running_ = !products_.empty() && products_.front().arrived == kWarps;
  return running_;
}

void WgmmaQueue::commit(Machine& machine) {
  Warp& warp = machine.warp();
  warp.wgmma_committed++;
  settle(machine);
  machine.step();
}

void WgmmaQueue::settle(Machine& machine) {
  for (const std::uint32_t last = closed(); complete_through_ < last; complete_through_++) {
    if (!unfinished_.empty() && unfinished_.front() > 0) break;
    if (!unfinished_.empty()) unfinished_.erase(unfinished_.begin());
  }
  machine.wake_all(waiters_);
}

std::uint32_t WgmmaQueue::closed() const {
  std::uint32_t least = ~0u;
  for (std::uint32_t w = 0; w < kWarps; w++)
    least = std::min(least, cta_.warps[warpgroup_ * kWarps + w]->wgmma_committed);
  return least;
}

void WgmmaQueue::wait(Machine& machine, std::uint32_t in_flight) {
  Warp& warp = machine.warp();
  const std::uint32_t through = warp.wgmma_committed > in_flight ? warp.wgmma_committed - in_flight : 0;
  if (machine.fault(FaultPoint::kWgmmaWaitGroup)) return;
  while (complete_through_ < through) {
    waiters_.push_back(machine.waiter());
    machine.park({WaitKind::kWgmmaGroups, nullptr, in_flight, 0});
  }
  retire(machine, warp, through);
  if (machine.checker() != nullptr) warp.view.local.raise(component::kWgmma + warpgroup_, through);
  warp.wgmma_fenced = false;
  machine.step();
}

void WgmmaQueue::retire(Machine& machine, Warp& warp, std::uint32_t through) {
  const std::uint32_t quarter = warp.index % kWarps;
  for (auto it = accumulators_.begin(); it != accumulators_.end();) {
    Accumulator& accumulator = *it;
    float* d = accumulator.registers[quarter];
    if (d == nullptr || accumulator.last_group > through) {
      ++it;
      continue;
    }
    bool touched = false;
    for (std::uint32_t r = 0; r < accumulator.n / 2; r++) {
      for (std::uint32_t l = 0; l < kLanes; l++) {
        touched |= std::bit_cast<std::uint32_t>(d[r * kLanes + l]) != std::bit_cast<std::uint32_t>(kPoison);
        d[r * kLanes + l] = accumulator.values[row_of(quarter, l, r) * accumulator.n + column_of(l, r)];
      }
    }
    if (touched) {
      machine.add_finding(
          Rule::kAccumulatorInFlight, 3,
          fmt::format("  registers of {} were written while products on them were in flight", machine.describe(warp)));
    }
    accumulator.registers[quarter] = nullptr;
    warp.accumulators_in_flight--;
    it = ++accumulator.exported == kWarps ? accumulators_.erase(it) : std::next(it);
  }
}

}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

namespace {

WgmmaQueue& queue(Machine& machine) {
  const std::uint32_t group = machine.warp().index / WgmmaQueue::kWarps;
  MK_CHECK(group < 4 && machine.cta().wgmma[group] != nullptr, "warp {} belongs to no whole warpgroup",
           machine.warp().index);
  return *machine.cta().wgmma[group];
}

}  // namespace

void wgmma(const WgmmaOperands& operands) {
  Machine& machine = Machine::current();
  queue(machine).issue(machine, operands);
}

void wgmma_fence() {
  Machine& machine = Machine::current();
  if (machine.fault(FaultPoint::kWgmmaFence)) return;
  machine.warp().wgmma_fenced = true;
  machine.step();
}

void wgmma_commit() {
  Machine& machine = Machine::current();
  queue(machine).commit(machine);
}

void wgmma_wait(std::uint32_t in_flight) {
  Machine& machine = Machine::current();
  queue(machine).wait(machine, in_flight);
}

}  // namespace megakittens::device::host
