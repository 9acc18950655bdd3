// tcgen05.mma and .commit of one CTA or a pair (rows 5, 19 to 22).
#include <fmt/format.h>

#include <bit>

#include "device/arch/sm100/descriptor.cuh"
#include "emulator/matrix_operand.hpp"
#include "emulator/shared_memory.hpp"
#include "emulator/tensor_memory.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kDepth = 16;

class QueueAgent final : public Agent {
 public:
  explicit QueueAgent(TcgenQueue& queue) : queue_(queue) {}
  bool advance(Machine& machine) override { return queue_.advance(machine); }

 private:
  TcgenQueue& queue_;
};

MatrixOperand operand(std::uint64_t word, bool k_major, device::host::Half type) {
  const sm100::MatrixDescriptor d = sm100::decode(word);
  return {d.address, d.leading_offset, d.stride_offset, d.swizzle, k_major, type};
}

void bad(Machine& machine, const Warp& warp, const std::string& what) {
  machine.add_finding(Rule::kBadOperand, std::hash<std::string>{}(what) / 128,
                      fmt::format("  tcgen05.mma of {}: {}", machine.describe(warp), what));
}

// Where one CTA's share of the accumulator lies: row of the share and column -> lane and column of tensor memory.
struct Share {
  std::uint32_t rows;     // of the accumulator, in this CTA
  std::uint32_t columns;  // n
  bool folded;            // pair with m 128: the second half of the columns lies in lanes 64 to 127
  bool spread;            // one CTA with m 64: sixteen rows in each quarter

  std::uint32_t lane(std::uint32_t row, std::uint32_t column) const {
    if (spread) return row / 16 * 32 + row % 16;
    return folded && column >= columns / 2 ? row + 64 : row;
  }
  std::uint32_t column(std::uint32_t column) const {
    return folded && column >= columns / 2 ? column - columns / 2 : column;
  }
  std::uint32_t width() const { return folded ? columns / 2 : columns; }
};

}  // namespace

void TcgenQueue::push(Machine& machine, Item item) {
  items_.push_back(std::move(item));
  if (!running_) {
    running_ = true;
    machine.start(std::make_unique<QueueAgent>(*this));
  }
  machine.step();
}

void TcgenQueue::issue(Machine& machine, const device::host::TcgenOperands& operands) {
  Item item{Issue(machine)};
  item.operands = operands;
  item.tick = ++issued_;
  push(machine, std::move(item));
}

void TcgenQueue::commit(Machine& machine, std::uint32_t barrier, std::uint16_t cta_mask) {
  Item item{Issue(machine)};
  item.is_commit = true;
  item.barrier = barrier;
  item.cta_mask = cta_mask;
  item.tick = issued_;
  if (machine.fault(FaultPoint::kTcgenCommit, barrier)) {
    item.tick = 0;
    run_commit(machine, item);
    return machine.step();
  }
  push(machine, std::move(item));
}

bool TcgenQueue::advance(Machine& machine) {
  Item item = std::move(items_.front());
  items_.pop_front();
  if (item.is_commit) {
    run_commit(machine, item);
  } else {
    run_product(machine, item);
  }
  running_ = !items_.empty();
  return running_;
}

void TcgenQueue::run_commit(Machine& machine, const Item& item) {
  View view;  // products, and the completions they relied on; ordinary accesses of the issuer are not published
  if (machine.checker() != nullptr) {
    view.local = item.issue.view.local;
    for (std::uint32_t w = 0; w < component::kMaxWarps; w++) view.local.set(component::kWarp + w, 0);
    view.local.raise(component::kTcgen, item.tick);
  }
  Warp& warp = *item.issue.warp;
  auto arrive = [&](std::uint32_t address) {
    SharedPlace at = resolve_shared(machine, cta_, address, 8, "tcgen05.commit", warp.index);
    if (!at) return;
    Mbarrier* barrier = find_barrier(machine, *at.cta, at.offset, "tcgen05.commit", warp);
    if (barrier == nullptr) return;
    Checker* checker = machine.checker();
    const bool remote = at.cta != &cta_;
    Foreign foreign = remote && checker != nullptr
                          ? checker->publish_completion(static_cast<std::uint16_t>(cta_.index), view)
                          : nullptr;
    arrive_from_agent(machine, *barrier, remote || checker == nullptr ? nullptr : &view, foreign, warp);
  };
  if (item.cta_mask == 0) arrive(item.barrier);
  for (std::uint32_t rank = 0; rank < 16; rank++) {
    if ((item.cta_mask >> rank & 1) != 0) arrive(device::host::map_address(item.barrier, rank));
  }
}

void TcgenQueue::run_product(Machine& machine, const Item& item) {
  const device::host::TcgenOperands& o = item.operands;
  const sm100::InstructionDescriptor shape = sm100::decode_instruction(o.instruction);
  const Warp& warp = *item.issue.warp;
  const std::uint32_t ctas = static_cast<std::uint32_t>(o.cta_group);
  const std::uint32_t m = shape.m, n = shape.n, column = o.d & 0xffff;
  if (ctas > cta_.cluster->ctas.size()) return bad(machine, warp, "a pair in a cluster of one");
  if (ctas == 2 && cta_.rank % 2 != 0) return bad(machine, warp, "issued by the second CTA of a pair");
  if ((m != 64 * ctas && m != 128 * ctas) || n == 0 || n % 8 != 0 || n > 256)
    return bad(machine, warp, fmt::format("shape {} x {}", m, n));
  const device::host::Half type = shape.bf16 ? device::host::Half::kBf16 : device::host::Half::kF16;
  const Share share{m / ctas, n, ctas == 2 && m == 128, ctas == 1 && m == 64};
  const bool compute = machine.config().arithmetic;
  const Access read = item.issue.access(Operation::kTcgenMma, false, item.issue.cta(), component::kTcgen, item.tick);
  const Access write = item.issue.access(Operation::kTcgenMma, true, item.issue.cta(), component::kTcgen, item.tick);

  std::vector<float> b(kDepth * n);
  for (std::uint32_t rank = 0; rank < ctas; rank++) {  // each CTA of a pair holds half of B's columns
    read_operand(machine, *(ctas == 1 ? &cta_ : cta_.cluster->ctas[rank]),
                 operand(o.descriptor_b, !shape.trans_b, type), n / ctas, b.data() + rank * (n / ctas), n, read, warp,
                 compute);
  }
  std::vector<float> a(kDepth * share.rows), c(std::size_t{share.rows} * n);
  for (std::uint32_t rank = 0; rank < ctas; rank++) {
    Cta& cta = *(ctas == 1 ? &cta_ : cta_.cluster->ctas[rank]);
    TensorMemory& memory = *cta.tensor_memory;
    if (!memory.allocated(column, share.width())) {
      machine.add_finding(Rule::kTensorMemoryMisuse, 20,
                          fmt::format("  tcgen05.mma of {} writes columns {} to {} of CTA {}, which are not allocated",
                                      machine.describe(warp), column, column + share.width() - 1, cta.index));
      if (column + share.width() > kTensorColumns) return;
    }
    if (o.a_in_tensor_memory) {
      const std::uint32_t first = static_cast<std::uint32_t>(o.a) & 0xffff;
      for (std::uint32_t k = 0; k < kDepth; k++) {
        for (std::uint32_t row = 0; row < share.rows; row++) {
          const std::uint32_t word = memory.word(share.lane(row, 0), first + k / 2);
          a[k * share.rows + row] = half_to_float(type, static_cast<std::uint16_t>(word >> (16 * (k % 2))));
        }
      }
    } else {
      read_operand(machine, cta, operand(o.a, !shape.trans_a, type), share.rows, a.data(), share.rows, read, warp,
                   compute);
    }
    if (Checker* checker = machine.checker()) {
      for (std::uint32_t quarter = 0; quarter < 4; quarter++) {
        if (o.a_in_tensor_memory)
          memory.access(*checker, quarter, static_cast<std::uint32_t>(o.a) & 0xffff, kDepth / 2, read);
        if (o.accumulate) memory.access(*checker, quarter, column, share.width(), read);
        memory.access(*checker, quarter, column, share.width(), write);
      }
    }
    if (!compute) continue;
    for (std::uint32_t row = 0; row < share.rows; row++) {
      for (std::uint32_t j = 0; j < n; j++) {
        const std::uint32_t word = memory.word(share.lane(row, j), column + share.column(j));
        c[row * n + j] = o.accumulate ? std::bit_cast<float>(word) : 0.0f;
      }
    }
    multiply_add(c.data(), a.data(), b.data(), share.rows, n);
    for (std::uint32_t row = 0; row < share.rows; row++) {
      for (std::uint32_t j = 0; j < n; j++) {
        memory.word(share.lane(row, j), column + share.column(j)) = std::bit_cast<std::uint32_t>(c[row * n + j]);
      }
    }
  }
}

}  // namespace megakittens::emulator

namespace megakittens::device::host {
using namespace emulator;

void tcgen_mma(const TcgenOperands& operands) {
  Machine& machine = Machine::current();
  machine.report().async_operations++;
  machine.cta().tcgen->issue(machine, operands);
}

void tcgen_commit(int, std::uint32_t barrier, std::uint16_t cta_mask) {
  Machine& machine = Machine::current();
  machine.cta().tcgen->commit(machine, barrier, cta_mask);
}

}  // namespace megakittens::device::host
