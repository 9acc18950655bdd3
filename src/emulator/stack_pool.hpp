// Stacks for fibres: mapped once with a guard page below, reused by later runs of the same thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace megakittens::emulator {

struct Stack {
  std::byte* bottom = nullptr;  // lowest usable byte; the page below it traps
  std::size_t bytes = 0;
};

/// How the page below a stack is made to trap. A process may have some 65,000 memory maps (vm.max_map_count).
enum class Guards : std::uint8_t {
  light,   // MADV_GUARD_INSTALL of Linux 6.13: neighbouring stacks share one map
  mapped,  // a protected page: two maps a stack
};

/// The best that this kernel has.
Guards guards_of_this_host();

/// How many threads with so many stacks each have memory maps enough; at least one.
unsigned threads_that_fit(std::size_t stacks, Guards guards, std::size_t maps_in_use, std::size_t max_maps);
/// Lines of /proc/self/maps, and vm.max_map_count; 0 where /proc is not readable.
std::size_t maps_in_use();
std::size_t max_maps();

class StackPool {
 public:
  explicit StackPool(Guards guards = guards_of_this_host()) : guards_(guards) {}
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();

  /// Throws CapacityError when the host gives no memory or no more memory maps. `bytes` is rounded up to pages.
  Stack take(std::size_t bytes);
  void give(Stack stack);

  static StackPool& of_this_thread();

 private:
  Guards guards_;
  std::vector<Stack> free_;
};

}  // namespace megakittens::emulator
