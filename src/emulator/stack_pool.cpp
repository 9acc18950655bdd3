#include "emulator/stack_pool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <new>
#include <string_view>
#include <system_error>

#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL, which the C library's headers may lack

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// Gives `take` what a file of /proc holds, piece by piece. Asks for no memory: none may be left.
template <typename Take>
void read_pieces(const char* path, Take take) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    take(std::string_view(piece.data(), static_cast<std::size_t>(count)));
  }
  ::close(file);
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
  std::size_t lines = 0;
  read_pieces("/proc/self/maps",
              [&](std::string_view piece) { lines += static_cast<std::size_t>(std::ranges::count(piece, '\n')); });
  return lines;
}

std::size_t max_maps() {
  std::size_t limit = 0;  // one number, which the first piece holds
  read_pieces("/proc/sys/vm/max_map_count",
              [&](std::string_view piece) { std::from_chars(piece.data(), piece.data() + piece.size(), limit); });
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
