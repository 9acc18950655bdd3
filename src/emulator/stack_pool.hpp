// Stacks for fibres: mapped once with a guard page below, reused by later runs of the same thread.
#pragma once

#include <cstddef>
#include <vector>

namespace megakittens::emulator {

struct Stack {
  std::byte* bottom = nullptr;  // lowest usable byte; the page below it traps
  std::size_t bytes = 0;
};

class StackPool {
 public:
  StackPool() = default;
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  /// Throws CapacityError when the host gives no memory. `bytes` is rounded up to pages.
  Stack take(std::size_t bytes);
  void give(Stack stack);

  static StackPool& of_this_thread();

 private:
  std::vector<Stack> free_;
};

}  // namespace megakittens::emulator
