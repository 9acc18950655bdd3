#include "emulator/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>
#include <string>
#include <system_error>

#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::emulator {
namespace {

constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL, which the C library's headers may lack

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

std::string text_of(const char* path) {
  try {
    return read_file(path, std::uint64_t{1} << 28);
  } catch (const UserError&) {
    return {};
  }
}

void* map(std::size_t bytes) {
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

[[noreturn]] void refuse(std::size_t bytes, int reason) {
  throw CapacityError(
      fmt::format("the host has no memory for a fibre stack of {} bytes: {}. The process has {} memory maps of the {} "
                  "that vm.max_map_count allows: explore with fewer threads (check --threads), or raise that limit",
                  bytes, std::generic_category().message(reason), maps_in_use(), max_maps()));
}

}  // namespace

Guards guards_of_this_host() {
  static const Guards guards = [] {
    void* page = map(page_bytes());
    if (page == MAP_FAILED) return Guards::mapped;
    const bool light = madvise(page, page_bytes(), kInstallGuard) == 0;
    munmap(page, page_bytes());
    return light ? Guards::light : Guards::mapped;
  }();
  return guards;
}

std::size_t maps_in_use() {
  const std::string maps = text_of("/proc/self/maps");
  return static_cast<std::size_t>(std::ranges::count(maps, '\n'));
}

std::size_t max_maps() {
  const std::string text = text_of("/proc/sys/vm/max_map_count");
  std::size_t limit = 0;
  std::from_chars(text.data(), text.data() + text.size(), limit);
  return limit;
}

unsigned threads_that_fit(std::size_t stacks, Guards guards, std::size_t maps_in_use, std::size_t max_maps) {
  constexpr std::size_t kMaxThreads = 1 << 16;
  constexpr std::size_t kOthers = 1000;    // for everything else that the process may do meanwhile
  constexpr std::size_t kOfAThread = 100;  // its own stack, its heap, and large blocks
  if (max_maps == 0 || guards == Guards::light) return kMaxThreads;
  const std::size_t taken = maps_in_use + kOthers;
  if (taken >= max_maps) return 1;
  return static_cast<unsigned>(std::clamp<std::size_t>((max_maps - taken) / (2 * stacks + kOfAThread), 1, kMaxThreads));
}

StackPool& StackPool::of_this_thread() {
  thread_local StackPool pool;
  return pool;
}

StackPool::~StackPool() {
  for (const Stack& stack : free_) munmap(stack.bottom - page_bytes(), stack.bytes + page_bytes());
}

Stack StackPool::take(std::size_t bytes) {
  const std::size_t page = page_bytes();
  bytes = (bytes + page - 1) / page * page;
  while (!free_.empty()) {
    Stack stack = free_.back();
    free_.pop_back();
    if (stack.bytes == bytes) return stack;
    munmap(stack.bottom - page, stack.bytes + page);  // another size was asked for: keep only one size
  }
  void* base = map(bytes + page);
  if (base == MAP_FAILED) refuse(bytes, errno);
  const bool guarded =
      (guards_ == Guards::light && madvise(base, page, kInstallGuard) == 0) || mprotect(base, page, PROT_NONE) == 0;
  if (!guarded) {
    const int reason = errno;
    munmap(base, bytes + page);
    refuse(bytes, reason);
  }
  return {static_cast<std::byte*>(base) + page, bytes};
}

void StackPool::give(Stack stack) {
  try {
    free_.push_back(stack);
  } catch (const std::bad_alloc&) {  // where maps have run out the list cannot grow either
    munmap(stack.bottom - page_bytes(), stack.bytes + page_bytes());
  }
}

}  // namespace megakittens::emulator
