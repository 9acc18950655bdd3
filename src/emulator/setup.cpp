// Building and leaving: CTAs, warps and their fibres.
#include <algorithm>

#include "emulator/machine.hpp"
#include "emulator/tensor_memory.hpp"
#include "emulator/wgmma.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kMostCtas = 148;
constexpr std::uint32_t kMostSharedBytes = 227 * 1024;
constexpr std::byte kPoison{0xFB};  // as bf16, f16 and float: large negative numbers that spoil any result

// 65,536 registers an SM are 2,048 a lane summed over warps; a launch takes as many as the CTA's size allows.
constexpr std::uint32_t kSmRegisters = 2048;
constexpr std::uint32_t registers_at_launch(std::uint32_t warps) {
  return std::min(kSmRegisters / warps / 8 * 8, 248u);
}

void require(bool condition, const std::string& message) {
  if (!condition) throw OptionError(message);
}

}  // namespace

Cta::Cta() = default;
Cta::~Cta() = default;

void Machine::make_ctas() {
  const LaunchConfig& c = config_;
  require(c.grid >= 1 && c.grid <= kMostCtas,
          fmt::format("a grid of {} CTAs; the machine has {} SMs", c.grid, kMostCtas));
  require(c.cluster == 1 || c.cluster == 2, fmt::format("clusters of {} CTAs; 1 or 2 are possible", c.cluster));
  require(c.grid % c.cluster == 0, fmt::format("{} CTAs do not divide into clusters of {}", c.grid, c.cluster));
  require(c.warps >= 1 && c.warps <= component::kMaxWarps,
          fmt::format("{} warps a CTA; 1 to 16 are possible", c.warps));
  require(c.shared_bytes <= kMostSharedBytes,
          fmt::format("{} bytes of shared memory a CTA; at most {} are possible", c.shared_bytes, kMostSharedBytes));
  for (std::uint32_t i = 0; i < c.grid; i++) {
    if (i % c.cluster == 0) clusters_.push_back(std::make_unique<Cluster>());
    ctas_.push_back(std::make_unique<Cta>());
    Cta& cta = *ctas_.back();
    cta.index = i;
    cta.rank = i % c.cluster;
    cta.cluster = clusters_.back().get();
    cta.cluster->ctas.push_back(&cta);
    cta.shared_bytes = kReservedSharedBytes + c.shared_bytes;
    cta.shared_storage = std::make_unique<std::byte[]>(cta.shared_bytes + 1024);
    const std::uintptr_t storage = reinterpret_cast<std::uintptr_t>(cta.shared_storage.get());
    cta.shared = cta.shared_storage.get() + ((storage + 1023) / 1024 * 1024 - storage);
    std::fill(cta.shared, cta.shared + cta.shared_bytes, kPoison);
    cta.mbarrier_at.resize(cta.shared_bytes / 8 + 1, 0);
    const std::uint16_t number = static_cast<std::uint16_t>(i);
    cta.shared_region =
        std::make_unique<Region>(Region{Space::kShared, number, false, fmt::format("shared memory of CTA {}", i),
                                        cta.shared_bytes, ShadowMemory(cta.shared_bytes, false)});
    cta.tensor_memory = std::make_unique<TensorMemory>(i);
    cta.tcgen = std::make_unique<TcgenQueue>(cta);
    for (std::uint32_t w = 0; w < c.warps; w++) {
      cta.warps.push_back(std::make_unique<Warp>());
      Warp& warp = *cta.warps.back();
      warp.cta = &cta;
      warp.index = w;
      warp.registers = registers_at_launch(c.warps);
      warp.view.local.set(component::kWarp + w, 1);
      renew_context(warp);
      warp.fibre.start(c.stack_bytes, &Machine::enter, &warp);
      chooser_.started(warp);
      ready_.push_back(&warp);
    }
    for (std::uint32_t g = 0; g < c.warps / 4; g++) cta.wgmma[g] = std::make_unique<WgmmaQueue>(cta, g);
    cta.running = c.warps;
    cta.free_registers = kSmRegisters - c.warps * registers_at_launch(c.warps);
    unfinished_ += c.warps;
  }
}

void Machine::finish(Warp& warp) {
  warp.finished = true;
  unfinished_--;
  Cta& cta = *warp.cta;
  if (warp.bulk.read_through < warp.bulk.open() && warp.bulk.unread() > 0) {
    add_finding(Rule::kUnfinished, warp.index,
                fmt::format("  {} left while {} of its bulk stores still read shared memory", describe(warp),
                            warp.bulk.unread()));
  }
  if (warp.accumulators_in_flight > 0) {
    add_finding(Rule::kAccumulatorInFlight, 4,
                fmt::format("  {} left before wgmma.wait_group retired its products", describe(warp)));
  }
  if (--cta.running > 0) return;
  if (cta.tensor_memory->any_allocated()) {
    add_finding(Rule::kTensorMemoryMisuse, 30, fmt::format("  CTA {} ended without tcgen05.dealloc", cta.index));
  }
  if (cta.async_in_flight > 0) {
    add_finding(Rule::kUnfinished, 100,
                fmt::format("  CTA {} ended while {} asynchronous operations still used its shared memory", cta.index,
                            cta.async_in_flight));
  }
}

std::uint32_t BulkGroups::unread() const {
  std::uint32_t sum = 0;
  for (const Pending& group : pending) sum += group.unread;
  return sum;
}

BulkGroups::Pending& BulkGroups::group(std::uint32_t number) {
  const std::size_t at = number - complete_through - 1;
  if (at >= pending.size()) pending.resize(at + 1);
  return pending[at];
}

void BulkGroups::settle() {
  while (complete_through < committed && (pending.empty() || pending.front().incomplete == 0)) {
    if (!pending.empty()) pending.erase(pending.begin());
    complete_through++;
  }
  read_through = std::max(read_through, complete_through);
  while (read_through < committed) {
    const std::size_t at = read_through - complete_through;  // group read_through + 1
    if (at < pending.size() && pending[at].unread > 0) break;
    read_through++;
  }
}

}  // namespace megakittens::emulator
