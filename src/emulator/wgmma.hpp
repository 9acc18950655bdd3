// The products of one warpgroup: collected from its four warps, run in issue order by an agent, retired by wait_group.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <vector>

#include "device/host/hooks.hpp"
#include "emulator/agent.hpp"
#include "emulator/async_access.hpp"

namespace megakittens::emulator {

class WgmmaQueue {
 public:
  static constexpr std::uint32_t kWarps = 4;

  WgmmaQueue(Cta& cta, std::uint32_t warpgroup) : cta_(cta), warpgroup_(warpgroup) {}

  void issue(Machine& machine, const device::host::WgmmaOperands& operands);
  void commit(Machine& machine);
  void wait(Machine& machine, std::uint32_t in_flight);
  /// Runs the oldest product that all four warps have issued. False: there is none.
  bool advance(Machine& machine);

 private:
  // Accumulators in flight: their values live here, the warps' registers hold poison until retired (row 25).
  struct Accumulator {
    float* registers[kWarps] = {};
    std::vector<float> values;  // 64 x n, row by row
    std::uint32_t n = 0;
    std::uint32_t last_group = 0;  // of the last product issued on it
    std::uint32_t exported = 0;
  };
  struct Product {
    device::host::WgmmaOperands operands;
    Accumulator* accumulator = nullptr;
    std::uint32_t group = 0;
    std::uint32_t arrived = 0;
    Warp* issuer = nullptr;
    std::uint32_t context = 0;
    View view;                       // what all four warps know
    std::vector<float> registers_a;  // [16][64] where A comes from registers
  };

  Accumulator& accumulator_of(Warp& warp, Product& product, const device::host::WgmmaOperands& operands);
  void load_registers(Accumulator& accumulator, std::uint32_t quarter, bool keep);
  void retire(Machine& machine, Warp& warp, std::uint32_t through);
  void run(Machine& machine, Product& product);
  /// Groups that all four warps have committed.
  std::uint32_t closed() const;
  void settle(Machine& machine);

  Cta& cta_;
  std::uint32_t warpgroup_;
  std::deque<Product> products_;       // not yet run
  std::uint32_t first_ = 0;            // number of products_.front()
  std::uint32_t issued_[kWarps] = {};  // products of each warp so far
  std::list<Accumulator> accumulators_;
  std::vector<std::uint32_t> unfinished_;  // products not yet run of groups complete_through_ + 1 ..
  std::uint32_t complete_through_ = 0;
  std::vector<Waiter> waiters_;
  bool running_ = false;  // an agent of this queue is with the machine
};

}  // namespace megakittens::emulator
