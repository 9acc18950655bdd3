// Tensor memory of one CTA: 128 lanes by 512 columns of words, allocated by columns; and the queue of products on it.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "device/host/hooks.hpp"
#include "emulator/agent.hpp"
#include "emulator/async_access.hpp"
#include "emulator/checker/shadow.hpp"

namespace megakittens::emulator {

inline constexpr std::uint32_t kTensorLanes = 128, kTensorColumns = 512, kAllocationUnit = 32;

class TensorMemory {
 public:
  explicit TensorMemory(std::uint32_t cta);

  std::uint32_t& word(std::uint32_t lane, std::uint32_t column) { return words()[lane * kTensorColumns + column]; }
  /// A quarter of the lanes (32) of some columns, for the checker.
  void access(Checker& checker, std::uint32_t quarter, std::uint32_t column, std::uint32_t columns,
              const Access& access);
  /// First column of a free block, or -1.
  int allocate(std::uint32_t columns);
  /// False: the block was not allocated so.
  bool release(std::uint32_t column, std::uint32_t columns);
  bool allocated(std::uint32_t column, std::uint32_t columns) const;
  bool any_allocated() const;

  bool relinquished = false;
  std::vector<Waiter> waiters;  // for columns

 private:
  std::vector<std::uint32_t>& words();
  bool allocated_in(std::uint32_t first_unit, std::uint32_t units) const;

  std::uint32_t cta_;
  std::vector<std::uint32_t> words_;                                   // made at first use
  std::array<std::uint8_t, kTensorColumns / kAllocationUnit> used_{};  // length of the block in units at its first one
  std::unique_ptr<Region> region_;
};

/// Products and commits of one issuing CTA, in issue order.
class TcgenQueue {
 public:
  explicit TcgenQueue(Cta& cta) : cta_(cta) {}
  void issue(Machine& machine, const device::host::TcgenOperands& operands);
  void commit(Machine& machine, std::uint32_t barrier, std::uint16_t cta_mask);
  bool advance(Machine& machine);

 private:
  struct Item {
    Issue issue;
    bool is_commit = false;
    device::host::TcgenOperands operands{};
    std::uint32_t barrier = 0;
    std::uint16_t cta_mask = 0;
    std::uint32_t tick = 0;  // products up to this one
  };
  void push(Machine& machine, Item item);
  void run_product(Machine& machine, const Item& item);
  void run_commit(Machine& machine, const Item& item);

  Cta& cta_;
  std::deque<Item> items_;
  std::uint32_t issued_ = 0;
  bool running_ = false;
};

/// tcgen05.ld and .st of one warp that have not been waited for.
struct TensorTransfer {
  std::uint32_t tick = 0;
  bool load = false;
  bool done = false;
  std::uint32_t* registers = nullptr;  // of a load: [columns][32], written at wait::ld
  std::vector<std::uint32_t> data;
};

}  // namespace megakittens::emulator
