#include "emulator/fibre.hpp"

#include <memory>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace megakittens::emulator {
namespace context = boost::context;

namespace {

// Hands Boost a stack that the pool owns; Boost calls deallocate when the fibre ends, which is too early for us.
struct BorrowedStack {
  context::stack_context stack;
  context::stack_context allocate() { return stack; }
  void deallocate(context::stack_context&) {}
};

}  // namespace

Fibre::~Fibre() {
  if (stack_.bottom == nullptr) return;
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack_.bottom, stack_.bytes);
#endif
  StackPool::of_this_thread().give(stack_);
}

void Fibre::start(std::size_t stack_bytes, Entry entry, void* argument) {
  stack_ = StackPool::of_this_thread().take(stack_bytes);
  context::stack_context stack;
  stack.sp = stack_.bottom + stack_.bytes;
  stack.size = stack_.bytes;
  fibre_ =
      context::fiber(std::allocator_arg, BorrowedStack{stack}, [this, entry, argument](context::fiber&& scheduler) {
        scheduler_ = std::move(scheduler);
        arrive_on_fibre();
        entry(argument);
        done_ = true;
        leave_fibre(true);
        return std::move(scheduler_);
      });
}

void Fibre::resume() {
  leave_scheduler();
  fibre_ = std::move(fibre_).resume();
  arrive_at_scheduler();
}

void Fibre::suspend() {
  leave_fibre(false);
  scheduler_ = std::move(scheduler_).resume();
  arrive_on_fibre();
}

#if defined(__SANITIZE_ADDRESS__)
void Fibre::leave_scheduler() {
  __sanitizer_start_switch_fiber(&scheduler_fake_stack_, stack_.bottom, stack_.bytes);
}
void Fibre::arrive_at_scheduler() {
  __sanitizer_finish_switch_fiber(scheduler_fake_stack_, nullptr, nullptr);
}
void Fibre::arrive_on_fibre() {
  __sanitizer_finish_switch_fiber(fibre_fake_stack_, &scheduler_bottom_, &scheduler_bytes_);
}
void Fibre::leave_fibre(bool for_good) {
  __sanitizer_start_switch_fiber(for_good ? nullptr : &fibre_fake_stack_, scheduler_bottom_, scheduler_bytes_);
}
#else
void Fibre::leave_scheduler() {}
void Fibre::arrive_at_scheduler() {}
void Fibre::arrive_on_fibre() {}
void Fibre::leave_fibre(bool) {}
#endif

}  // namespace megakittens::emulator
