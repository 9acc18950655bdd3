#include "emulator/stack_pool.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

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
  void* base = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw CapacityError(fmt::format("the host has no memory for a fibre stack of {} bytes", bytes));
  mprotect(base, page, PROT_NONE);
  return {static_cast<std::byte*>(base) + page, bytes};
}

void StackPool::give(Stack stack) {
  free_.push_back(stack);
}

}  // namespace megakittens::emulator
